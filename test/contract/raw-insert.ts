import { once } from 'node:events';
import { connect } from 'node:net';
import mongoose from 'mongoose';

const { BSON } = mongoose.mongo;
const OP_MSG = 2013;
const HEADER = 16;

/**
 * Inserts documents as the bytes they are, as programs with other drivers can: outdated types, names used twice,
 * text that is not UTF-8. The server must need no login.
 */
export async function insertRaw(uri: string, collection: string, ...documents: Uint8Array[]): Promise<void> {
  const { hostname, port, pathname } = new URL(uri);
  const command = { insert: collection, $db: pathname.slice(1), writeConcern: { w: 'majority' } };
  const socket = connect(Number(port), hostname);
  socket.write(message(BSON.serialize(command), documents));
  const [reply] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  const answer = BSON.deserialize(reply.subarray(HEADER + 5));
  if (answer['ok'] !== 1 || answer['n'] !== documents.length) throw new Error(JSON.stringify(answer));
}

/** Flags, a section with the command, and a section with the sequence of documents. */
function message(command: Uint8Array, documents: Uint8Array[]): Buffer {
  const sequence = Buffer.concat([Buffer.alloc(4), Buffer.from('documents\0'), ...documents]);
  sequence.writeInt32LE(sequence.length);
  const body = [Buffer.alloc(4), Buffer.of(0), command, Buffer.of(1), sequence];
  const whole = Buffer.concat([Buffer.alloc(HEADER), ...body]);
  whole.writeInt32LE(whole.length);
  whole.writeInt32LE(OP_MSG, HEADER - 4);
  return whole;
}
