import { mongo } from 'mongoose';

/** BSON type numbers. */
const [DOCUMENT, ARRAY] = [3, 4];

/** The bytes of a document whose fields stand in this order, the same name as often as it is given. Bytes are a document. */
export function rawDocument(fields: [name: string, value: unknown][]): Buffer {
  const elements = fields.map(([name, value]) => {
    if (value instanceof Uint8Array)
      return Buffer.concat([Buffer.of(DOCUMENT), Buffer.from(`${name}\0`), value]);
    if (!isOfBytes(value)) return Buffer.from(mongo.BSON.serialize({ [name]: value })).subarray(4, -1);
    const list = rawDocument(value.map((element, index) => [String(index), element]));
    return Buffer.concat([Buffer.of(ARRAY), Buffer.from(`${name}\0`), list]);
  });
  const bytes = Buffer.concat([Buffer.alloc(4), ...elements, Buffer.of(0)]);
  bytes.writeInt32LE(bytes.length);
  return bytes;
}

function isOfBytes(value: unknown): value is Uint8Array[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => one instanceof Uint8Array);
}
