import fc from 'fast-check';
import type { Example } from './example.js';
import { numberExample } from './number-examples.js';
import * as raw from './raw-bson.js';
import { bytesOfText, keyBytes, shown } from './text-bytes.js';

/** Texts, and what else is stored as they are. */
export const textExample = fc
  .tuple(bytesOfText, fc.constantFrom(0x02, 0x0d, 0x0e))
  .map(([bytes, type]) => ({ stored: raw.text(bytes, type), text: shown(bytes) }));

const dateExample = fc
  .oneof(
    fc.bigInt({ min: -62167219200000n, max: 253402300799999n }),
    fc.constantFrom(-62167219200001n, -62167219200000n, 253402300799999n, 253402300800000n, 0n, -1n),
    fc.constantFrom(8640000000000001n, -8640000000000001n, 2n ** 63n - 1n, -(2n ** 63n), 8640000000000000n),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  )
  .map((milliseconds) => ({
    stored: raw.date(milliseconds),
    text: JSON.stringify(new Date(Number(milliseconds))),
  }));

const binaryExample = fc
  .tuple(fc.uint8Array({ maxLength: 40 }), fc.constantFrom(0, 2, 3, 4, 5, 9, 0x80), fc.boolean())
  .map(([bytes, subtype, isWhole]) => {
    const length = raw.int32(bytes.length + (isWhole ? 0 : 1)).bytes;
    const stored = subtype === 2 ? Buffer.concat([length, bytes]) : bytes;
    const visible = subtype === 2 && isWhole ? bytes : stored;
    return {
      stored: raw.binary(stored, subtype),
      text: JSON.stringify(Buffer.from(visible).toString('base64')),
    };
  });

const objectIdExample = fc.uint8Array({ minLength: 12, maxLength: 12 }).map((bytes) => {
  const hex = Buffer.from(bytes).toString('hex');
  return { stored: raw.objectId(hex), text: `"${hex}"` };
});

const noZero = fc.string({ maxLength: 12 }).filter((text) => !text.includes('\0'));

const regExpExample = fc
  .tuple(noZero, fc.constantFrom('', 'i', 'mi', 'sxi', 'g'))
  .map(([pattern, options]) => ({
    stored: raw.regExp(pattern, options),
    text: JSON.stringify(`/${pattern}/${[...options].sort().join('')}`),
  }));

const codeWithScopeExample = fc.string({ maxLength: 30 }).map((code) => {
  const inner = Buffer.concat([raw.text(code).bytes, raw.document([['x', raw.int32(1)]]).bytes]);
  const bytes = Buffer.concat([raw.int32(inner.length + 4).bytes, inner]);
  return { stored: { type: 0x0f, bytes }, text: JSON.stringify(code) };
});

const pointerExample = fc.uint8Array({ minLength: 12, maxLength: 12 }).map((id) => ({
  stored: { type: 0x0c, bytes: Buffer.concat([raw.text('people').bytes, id]) },
  text: `{"$ref":"people","$id":"${Buffer.from(id).toString('hex')}"}`,
}));

const bareExample = fc.constantFrom(
  { stored: raw.boolean(0), text: 'false' },
  { stored: raw.boolean(1), text: 'true' },
  ...[0x06, 0x0a, 0x7f, 0xff].map((type) => ({ stored: raw.bare(type), text: 'null' })),
);

const leaf: fc.Arbitrary<Example> = fc.oneof(
  { weight: 6, arbitrary: textExample },
  { weight: 9, arbitrary: numberExample },
  { weight: 2, arbitrary: dateExample },
  { weight: 2, arbitrary: binaryExample },
  bareExample,
  objectIdExample,
  regExpExample,
  codeWithScopeExample,
  pointerExample,
);

const tree = fc.letrec<{ value: Example; list: Example; document: Example }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 4, arbitrary: leaf },
    { weight: 1, arbitrary: tie('list') },
    { weight: 2, arbitrary: tie('document') },
  ),
  list: fc.array(tie('value'), { maxLength: 5 }).map((items) => ({
    stored: raw.list(items.map(({ stored }) => stored)),
    text: `[${items.map(({ text }) => text).join(',')}]`,
  })),
  document: fc.array(fc.tuple(keyBytes, tie('value')), { maxLength: 6 }).map((members) => ({
    stored: raw.document(members.map(([key, { stored }]) => [key, stored] as const)),
    text: `{${members.map(([key, { text }]) => `${shown(key)}:${text}`).join(',')}}`,
  })),
}));

/** Values of all types, documents with keys in any order, the same key twice included. */
export const example = tree.value;
export const documentExample = tree.document;
