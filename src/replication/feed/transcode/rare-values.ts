import mongoose from 'mongoose';
import { jsonText, READ_FOR_JSON } from '../../../record/index.js';

const { BSON } = mongoose.mongo;

const REGEXP = 0x0b;
const READ = { ...READ_FOR_JSON, validation: { utf8: false } };

/**
 * The JSON text of a value of a type that few documents have, from its type and bytes: what the driver reads. What it
 * refuses to read shows as null: one such value must not keep all others away.
 */
export function rareText(type: number, bytes: Uint8Array): string {
  switch (type) {
    case REGEXP:
      return regExpText(bytes);
    default:
      return jsonText(read(type, bytes));
  }
}

/** The driver knows its options only; other programs may have stored more. */
function regExpText(bytes: Uint8Array): string {
  const [pattern, options] = Buffer.from(bytes).toString().split('\0');
  return jsonText(`/${pattern}/${options!.split('').sort().join('')}`);
}

function read(type: number, bytes: Uint8Array): unknown {
  const length = Buffer.alloc(4);
  length.writeInt32LE(4 + 2 + bytes.length + 1);
  try {
    return BSON.deserialize(Buffer.concat([length, Buffer.of(type, 0), bytes, Buffer.of(0)]), READ)[''];
  } catch (error) {
    if (error instanceof BSON.BSONError) return null;
    throw error;
  }
}
