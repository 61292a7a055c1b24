import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import mongoose, { type mongo } from 'mongoose';

const { BSON } = mongoose.mongo;
const OP_MSG = 2013;
const HEADER = 16;

/**
 * Inserts documents as the bytes they are, as programs with other drivers can: outdated types, names used twice,
 * text that is not UTF-8.
 */
export async function insertRaw(uri: string, collection: string, ...documents: Uint8Array[]): Promise<void> {
  const { hostname, port, pathname, username, password } = new URL(uri);
  const socket = connect(Number(port), hostname);
  try {
    if (username !== '') await logIn(socket, username, password);
    const command = { insert: collection, $db: pathname.slice(1), writeConcern: { w: 'majority' } };
    const answer = await answerTo(socket, command, documents);
    if (answer['n'] !== documents.length) throw new Error(JSON.stringify(answer));
  } finally {
    socket.destroy();
  }
}

async function answerTo(socket: Socket, command: object, documents?: Uint8Array[]): Promise<mongo.Document> {
  socket.write(message(BSON.serialize(command), documents));
  const [reply] = (await once(socket, 'data')) as [Buffer];
  const answer = BSON.deserialize(reply.subarray(HEADER + 5), { promoteBuffers: true });
  if (answer['ok'] !== 1) throw new Error(JSON.stringify(answer));
  return answer;
}

/** SCRAM-SHA-256 (RFC 5802), for names and passwords of letters and digits. */
async function logIn(socket: Socket, user: string, password: string): Promise<void> {
  const first = `n=${user},r=${randomBytes(18).toString('base64')}`;
  const begin = { saslStart: 1, mechanism: 'SCRAM-SHA-256', options: { skipEmptyExchange: true } };
  const said = await answerTo(socket, { ...begin, payload: Buffer.from(`n,,${first}`), $db: 'admin' });
  const challenge = String(said['payload']);
  const [, nonce = '', salt = '', rounds = ''] = /^r=(.+),s=(.+),i=(\d+)$/.exec(challenge) ?? [];
  const salted = pbkdf2Sync(password, Buffer.from(salt, 'base64'), Number(rounds), 32, 'sha256');
  const hmac = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest();
  const last = `c=biws,r=${nonce}`;
  const clientKey = hmac(salted, 'Client Key');
  const stored = createHash('sha256').update(clientKey).digest();
  const signature = hmac(stored, `${first},${challenge},${last}`);
  const proof = Buffer.from(clientKey.map((byte, at) => byte ^ signature[at]!)).toString('base64');
  const { conversationId } = said;
  const payload = Buffer.from(`${last},p=${proof}`);
  await answerTo(socket, { saslContinue: 1, conversationId, payload, $db: 'admin' });
}

/** Flags, a section with the command, and a section with the sequence of documents, if there are any. */
function message(command: Uint8Array, documents: Uint8Array[] = []): Buffer {
  const sequence = Buffer.concat([Buffer.alloc(4), Buffer.from('documents\0'), ...documents]);
  sequence.writeInt32LE(sequence.length);
  const rest = documents.length === 0 ? [] : [Buffer.of(1), sequence];
  const body = [Buffer.alloc(4), Buffer.of(0), command, ...rest];
  const whole = Buffer.concat([Buffer.alloc(HEADER), ...body]);
  whole.writeInt32LE(whole.length);
  whole.writeInt32LE(OP_MSG, HEADER - 4);
  return whole;
}
