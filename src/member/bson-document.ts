import mongoose from 'mongoose';

const { BSON } = mongoose.mongo;

/** A BSON document with its names in stored order, which JavaScript objects change, and its types kept. */
export type BsonDocument = Map<string, unknown>;

export function isDocument(value: unknown): value is BsonDocument {
  return value instanceof Map;
}

const KEEP_TYPES = { promoteValues: false, bsonRegExp: true, validation: { utf8: false } } as const;
const TEXT = 2;
const DOCUMENT = 3;
const ARRAY = 4;

/** A text begins with its length and ends with a NUL (bytes). */
const BEFORE_TEXT = 4;
const AFTER_TEXT = 1;

/** Decodes raw BSON: documents as Maps, arrays as arrays, all else as the driver's own classes or plain text. */
export function decode(raw: Uint8Array): BsonDocument {
  const document: BsonDocument = new Map();
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  for (const [type, nameAt, nameLength, at, length] of BSON.onDemand.parseToElements(bytes)) {
    const name = bytes.toString('utf8', nameAt, nameAt + nameLength);
    document.set(name, valueOf(type, bytes.subarray(at, at + length)));
  }
  return document;
}

/** Whether the decoded document becomes the same bytes again. Odd or outdated types of other programs do not. */
export function isFaithful(document: BsonDocument, raw: Uint8Array): boolean {
  try {
    return Buffer.compare(BSON.serialize(document, { ignoreUndefined: false }), raw) === 0;
  } catch {
    return false;
  }
}

function valueOf(type: number, bytes: Buffer): unknown {
  if (type === TEXT) return bytes.toString('utf8', BEFORE_TEXT, bytes.length - AFTER_TEXT);
  if (type === DOCUMENT) return decode(bytes);
  if (type === ARRAY) return [...decode(bytes).values()];
  return BSON.deserialize(alone(type, bytes), KEEP_TYPES)['v'];
}

/** A document whose only element, `v`, is this value. */
function alone(type: number, bytes: Buffer): Buffer {
  const document = Buffer.alloc(bytes.length + 8);
  document.writeInt32LE(document.length, 0);
  document.writeUInt8(type, 4);
  document.write('v', 5);
  bytes.copy(document, 7);
  return document;
}
