import { mongo } from 'mongoose';

const { deserialize } = mongo.BSON;

/** Offsets in a message of the wire protocol, and what stands there (bytes). */
const OP_CODE = 12;
const BODY = 21;
const SIZE = 4;
const OP_MSG = 2013;
const AS_IT_IS = { promoteValues: false, validation: { utf8: false } } as const;

/** A command that a driver has sent: its name, the collection that it is about, and all of its documents. */
export interface SentCommand {
  name: string;
  collection: string;
  /** The command itself first, then the statements of a bulk. */
  documents: mongo.Document[];
}

/** The command in a whole message; nothing where that is compressed, or of an older protocol. */
export function sentCommand(message: Buffer): SentCommand | undefined {
  if (message.readInt32LE(OP_CODE) !== OP_MSG) return undefined;
  const documents: mongo.Document[] = [];
  for (let at = BODY - 1; at + 1 + SIZE < message.length;) {
    const isSequence = message[at] === 1;
    const end = at + 1 + message.readInt32LE(at + 1);
    for (let place = isSequence ? message.indexOf(0, at + 1 + SIZE) + 1 : at + 1; place < end;) {
      const next = place + message.readInt32LE(place);
      documents.push(deserialize(message.subarray(place, next), AS_IT_IS));
      place = next;
    }
    at = end;
  }
  const [[name, collection] = []] = Object.entries(documents[0] ?? {});
  return name === undefined ? undefined : { name, collection: String(collection), documents };
}

/** Every ObjectId in a command, at any depth. */
export function objectIdsIn(value: unknown): mongo.ObjectId[] {
  if (value instanceof mongo.ObjectId) return [value];
  if (typeof value !== 'object' || value === null || '_bsontype' in value) return [];
  return Object.values(value).flatMap(objectIdsIn);
}
