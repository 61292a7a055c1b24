import mongoose, { type mongo } from 'mongoose';
import { SAFE_BSON } from '../platform/database/plain.js';
import { READ_FOR_JSON } from './item.js';

const { BSON } = mongoose.mongo;
/** The option for text that is not UTF-8 has another name in the BSON library than in the driver. */
const READ = { ...READ_FOR_JSON, validation: { utf8: false } };

const [DOCUMENT, ARRAY, BINARY, REGEXP] = [0x03, 0x04, 0x05, 0x0b];
const LENGTH_BYTES = 4;
/** A binary that begins with a second copy of its length. */
const OLD_BINARY = 0x02;
const REFERENCE = '$ref\0';

/** Reads a stored document for {@link jsonText}. See {@link valueForJson}. */
export function documentForJson(bytes: Uint8Array): mongo.Document {
  return valueForJson(DOCUMENT, bytes) as mongo.Document;
}

/** Represents a value that the driver refuses. It is no valid value of any setting: a filter that contains it is invalid. */
const REFUSED = new BSON.Code('');

/**
 * Reads a document that the driver returned as bytes (`raw`), as the driver would have read it; or, if the driver refuses a
 * value in it, value by value. So one odd document of another program does not keep all others from being read. A single
 * value that the driver refuses becomes code.
 */
export function documentOf<T extends mongo.Document>(raw: unknown): T {
  const bytes = raw as Uint8Array;
  try {
    return BSON.deserialize(bytes, { ...SAFE_BSON, validation: { utf8: false } }) as T;
  } catch (error) {
    if (!(error instanceof BSON.BSONError)) throw error;
    return oneByOne(DOCUMENT, bytes, REFUSED) as T;
  }
}

/**
 * Reads any stored value for {@link jsonText}, from its type and its bytes. The driver refuses a document if one value
 * in it is unusual, such as a regular expression with an option that the driver does not know; and it reads a document
 * with `$ref` and `$id` as a reference, which changes a name with a dot. Such documents are read value by value. A
 * single value that the driver refuses becomes null, so that it does not keep all others from being delivered.
 */
export function valueForJson(type: number, bytes: Uint8Array): unknown {
  if (!hasParts(type) || bufferOf(bytes).includes(REFERENCE, 0, 'latin1')) return oneByOne(type, bytes);
  return asDriver(type, bytes, () => oneByOne(type, bytes));
}

/** All values within a document are read alone, also those of the documents in it, so that each byte is read only once. */
function oneByOne(type: number, bytes: Uint8Array, refused: unknown = null): unknown {
  if (type === REGEXP) return regExp(bytes);
  if (type === BINARY) return binary(bytes);
  if (!hasParts(type)) return asDriver(type, bytes, () => refused);
  const document = bufferOf(bytes);
  const parts = [...BSON.onDemand.parseToElements(document)].map(
    ([part, nameAt, nameLength, at, length]) =>
      [
        document.toString('utf8', nameAt, nameAt + nameLength),
        oneByOne(part, document.subarray(at, at + length), refused),
      ] as const,
  );
  return type === ARRAY ? parts.map(([, value]) => value) : Object.fromEntries(parts);
}

function hasParts(type: number): boolean {
  return type === DOCUMENT || type === ARRAY;
}

function asDriver(type: number, bytes: Uint8Array, otherwise: () => unknown): unknown {
  try {
    return BSON.deserialize(alone(type, bytes), READ)[''];
  } catch (error) {
    if (error instanceof BSON.BSONError) return otherwise();
    throw error;
  }
}

/** With all options that are stored. The driver's class refuses those that the driver does not know. */
function regExp(bytes: Uint8Array): mongo.BSONRegExp {
  const [pattern, options] = bufferOf(bytes).toString().split('\0');
  return Object.assign(new BSON.BSONRegExp(pattern!), { options: options!.split('').sort().join('') });
}

function binary(bytes: Uint8Array): mongo.Binary {
  const subtype = bytes[LENGTH_BYTES]!;
  const content = bufferOf(bytes).subarray(LENGTH_BYTES + 1);
  const isOld =
    subtype === OLD_BINARY &&
    content.length >= LENGTH_BYTES &&
    content.readUInt32LE() === content.length - LENGTH_BYTES;
  return new BSON.Binary(isOld ? content.subarray(LENGTH_BYTES) : content, subtype);
}

/** A document whose only value, under the empty name, is this one. */
function alone(type: number, bytes: Uint8Array): Buffer {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeInt32LE(LENGTH_BYTES + 2 + bytes.length + 1);
  return Buffer.concat([length, Buffer.of(type, 0), bytes, Buffer.of(0)]);
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
