import fc from 'fast-check';

/** What decoders make of bytes that may be no UTF-8. */
const DECODER = new TextDecoder('utf-8', { ignoreBOM: true });

const CHARACTERS = [...'aZ09 "\\/\u0000\u0001\u0008\t\n\u000b\f\r\u001f\u007f\u0080ßé€\u2028\ufffd\uffff😀𝄞'];
const BROKEN = [
  '80',
  'bf',
  'c0',
  'c1',
  'c2',
  'e0',
  'e080',
  'e282',
  'eda080',
  'edbfbf',
  'f0',
  'f09f',
  'f09f98',
];
const BROKEN_TOO = [
  'f4908080',
  'f5',
  'f8',
  'ff',
  'fe',
  'f0808080',
  'e0a0',
  'efbbbf',
  'c3',
  'dfc3',
  'eda0bdedb880',
];

/** Text, well-formed or not. */
export const bytesOfText = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: fc.string({ minLength: 1, maxLength: 40 }).map((text) => Buffer.from(text)) },
      {
        weight: 6,
        arbitrary: fc.constantFrom(...CHARACTERS).map((text) => Buffer.from(text)),
      },
      {
        weight: 2,
        arbitrary: fc.string({ unit: 'binary', maxLength: 20 }).map((text) => Buffer.from(text)),
      },
      {
        weight: 1,
        arbitrary: fc.constantFrom(...BROKEN, ...BROKEN_TOO).map((hex) => Buffer.from(hex, 'hex')),
      },
      { weight: 1, arbitrary: fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes)) },
    ),
    { maxLength: 6 },
  )
  .map((parts) => Buffer.concat(parts));

/** Keys, well-formed or not. */
export const keyBytes = fc.oneof(
  bytesOfText.map((bytes) => bytes.filter((byte) => byte !== 0)).map((bytes) => Buffer.from(bytes)),
  fc
    .constantFrom(
      '',
      '__proto__',
      'constructor',
      '_bsontype',
      'toJSON',
      '$ref',
      '$id',
      'a.b',
      '0',
      '10',
      '2',
      'id',
    )
    .map((key) => Buffer.from(key)),
);

/** The JSON of some bytes as text. */
export function shown(bytes: Uint8Array): string {
  return JSON.stringify(DECODER.decode(bytes));
}
