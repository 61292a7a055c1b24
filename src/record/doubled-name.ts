import mongoose from 'mongoose';

const { BSON } = mongoose.mongo;
const DOCUMENT = 3;
const ARRAY = 4;

/** The path of the first name that stands again in its document, at any depth of raw BSON; nothing where none does. */
export function doubledNameIn(raw: Uint8Array): string | undefined {
  const seen = new Set<string>();
  for (const [type, nameAt, nameLength, at, length] of BSON.onDemand.parseToElements(raw)) {
    const name = BSON.onDemand.ByteUtils.toUTF8(raw, nameAt, nameAt + nameLength, false);
    if (seen.has(name)) return name;
    seen.add(name);
    const hasNames = type === DOCUMENT || type === ARRAY;
    const inner = hasNames ? doubledNameIn(raw.subarray(at, at + length)) : undefined;
    if (inner !== undefined) return `${name}.${inner}`;
  }
  return undefined;
}
