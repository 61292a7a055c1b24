import mongoose from 'mongoose';
import { etagOf } from '../platform/http/index.js';
import { documentForJson, updateItemText } from '../record/index.js';
import { itemText } from '../replication/transcode/index.js';
import type { BsonDocument } from './merge.js';

const { BSON } = mongoose.mongo;

const KEEP_TYPES = { promoteValues: false, bsonRegExp: true, validation: { utf8: false } } as const;
const TEXT = 2;
const DOCUMENT = 3;
const ARRAY = 4;

/** A BSON text begins with its length and ends with a NUL (bytes). */
const BEFORE_TEXT = 4;
const AFTER_TEXT = 1;

/** The service's own field. */
const OWN = 'emailkey';

/** A member as stored in the database. */
export class StoredMember {
  /** Without the service's own `emailkey`. */
  readonly raw: Uint8Array;
  private decoded: BsonDocument | undefined;

  constructor(private readonly whole: Uint8Array) {
    this.raw = without(whole, ({ name }) => name === OWN);
  }

  /** Differs after each change of the record by any program, except a change of `emailkey` alone. */
  get etag(): string {
    return etagOf(this.raw);
  }

  /** The decoded record. Do not modify it: each call returns the same object. */
  record(): BsonDocument {
    return (this.decoded ??= decode(this.raw));
  }

  /** The number of occurrences of each name along a path, which may be that of `emailkey`. */
  timesAlong(path: string[]): number[] {
    return timesAlong(this.whole, path);
  }

  /** The JSON text for answers, as the feeds show it. They do not deliver a member without a valid stamp. */
  itemText(): string {
    const delivered = itemText(this.raw, { item: 'update', kind: 'member', withPasswordHash: false });
    if (delivered !== undefined) return delivered;
    const record = documentForJson(withoutDoubles(this.raw));
    return updateItemText('member', record, { withPasswordHash: false });
  }
}

/**
 * Represents the values of a duplicate name in a document, and a value that the driver refuses. It equals no value, so
 * a patch always replaces it.
 */
const UNLIKE_ANY = Symbol('unlike any value');

/**
 * Decodes raw BSON: documents as Maps, arrays as arrays, texts as strings, numbers as the driver's own classes, and
 * other values as the driver decodes them. For a duplicate name at the top, and for duplicate documents, the first value is
 * used, as in MongoDB. {@link UNLIKE_ANY} represents the values of other duplicate names, and values that the driver refuses.
 */
export function decode(raw: Uint8Array, isWithin = false): BsonDocument {
  const document: BsonDocument = new Map();
  for (const { name, type, value } of elementsOf(raw))
    if (!document.has(name)) document.set(name, valueOf(type, value));
    else if (isWithin && !(document.get(name) instanceof Map)) document.set(name, UNLIKE_ANY);
  return document;
}

/**
 * The number of occurrences of each name along a path, each in its own document. Of duplicate documents, the first
 * one is followed.
 */
function timesAlong(raw: Uint8Array, path: string[]): number[] {
  const [name, ...rest] = path;
  const found = [...elementsOf(raw)].filter((element) => element.name === name);
  const first = found[0];
  const inner = first?.type === DOCUMENT && rest.length > 0 ? timesAlong(first.value, rest) : [];
  return [found.length, ...inner];
}

/** The document without the later values of duplicate names; documents inside it are unchanged. */
function withoutDoubles(raw: Uint8Array): Uint8Array {
  const seen = new Set<string>();
  return without(raw, ({ name }) => seen.has(name) || !seen.add(name));
}

/** The document without the elements for which a function is true; documents inside it are unchanged. */
function without(raw: Uint8Array, isLeftOut: (element: Element) => boolean): Uint8Array {
  const elements = [...elementsOf(raw)];
  const kept = elements.filter((element) => !isLeftOut(element));
  if (kept.length === elements.length) return raw;
  const bytes = Buffer.concat([Buffer.alloc(4), ...kept.map(({ all }) => all), Buffer.of(0)]);
  bytes.writeInt32LE(bytes.length);
  return bytes;
}

/** Whether the decoded document encodes to the same bytes. Some outdated types that other programs store do not. */
export function isFaithful(document: BsonDocument, raw: Uint8Array): boolean {
  try {
    return Buffer.compare(BSON.serialize(document, { ignoreUndefined: false }), raw) === 0;
  } catch {
    return false;
  }
}

/** One element of a document: its name, the bytes of its value, and all of its bytes. */
interface Element {
  name: string;
  type: number;
  value: Buffer;
  all: Buffer;
}

function* elementsOf(raw: Uint8Array): Generator<Element> {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  for (const [type, nameAt, nameLength, at, length] of BSON.onDemand.parseToElements(bytes)) {
    const name = bytes.toString('utf8', nameAt, nameAt + nameLength);
    yield {
      name,
      type,
      value: bytes.subarray(at, at + length),
      all: bytes.subarray(nameAt - 1, at + length),
    };
  }
}

function valueOf(type: number, bytes: Buffer): unknown {
  if (type === TEXT) return bytes.toString('utf8', BEFORE_TEXT, bytes.length - AFTER_TEXT);
  if (type === DOCUMENT) return decode(bytes, true);
  if (type === ARRAY) return [...decode(bytes).values()];
  try {
    return BSON.deserialize(alone(type, bytes), KEEP_TYPES)['v'];
  } catch (error) {
    if (error instanceof BSON.BSONError) return UNLIKE_ANY;
    throw error;
  }
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
