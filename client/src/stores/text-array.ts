/** Of the type `text` in PostgreSQL's catalogue. */
const TEXT_OID = 25;
/** Dimensions, whether there are nulls, the type of an element; then length and lower bound of the dimension. */
const HEAD = 20;
const LENGTH = 4;

/**
 * A `text[]` as PostgreSQL sends and takes it in binary: the driver's own form of an array is one text in which each quote is
 * escaped, and costs client and server twice as much.
 */
export function textArray(texts: (string | null)[]): Buffer {
  const bytes = texts.reduce(
    (sum, text) => sum + LENGTH + (text === null ? 0 : Buffer.byteLength(text)),
    HEAD,
  );
  const array = Buffer.allocUnsafe(bytes);
  [1, 1, TEXT_OID, texts.length, 1].forEach((number, index) => array.writeInt32BE(number, index * LENGTH));
  let at = HEAD;
  for (const text of texts) {
    const written = text === null ? 0 : array.write(text, at + LENGTH);
    array.writeInt32BE(text === null ? -1 : written, at);
    at += LENGTH + written;
  }
  return array;
}
