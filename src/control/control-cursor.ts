import mongoose, { type mongo } from 'mongoose';
import { bareCommand, cursorId, SAFE_BSON } from '../database/index.js';

const MOST_EVENTS = 1000;
/** The server may miss the first sign of a majority write and wait until this is over (milliseconds). */
const SHORTEST_WAIT_MS = 20;
/** An answer that is so much later than the wait that was asked for does not come any more (milliseconds). */
const ARRIVAL_MS = 5000;
const FIRST = /^[0-9A-F]{2}([0-9A-F]{8})([0-9A-F]{8})/i;

/** One reply of the stream. */
export interface ControlReply {
  events: mongo.Document[];
  /** Everything up to this cluster time is told with it. */
  upTo: mongo.Timestamp;
  /** Whether the log had no more than this when it was asked for. */
  isComplete: boolean;
  /** When it was asked for, on the clock of `performance`. */
  askedAt: number;
}

interface StreamCursor {
  id: mongo.Long | number | bigint;
  firstBatch?: mongo.Document[];
  nextBatch?: mongo.Document[];
  /** A server that has just started may leave it out. */
  postBatchResumeToken?: { _data: string };
}

/**
 * The changes of a database from now on, reply by reply, as long as somebody asks for the next one. The bare commands are
 * used since they hand over empty replies too, and tell how far the log was read. The cursor is closed behind it, and
 * `onClosing` is told when that is over, with success or without.
 */
export async function* controlReplies(
  client: mongo.MongoClient,
  database: string,
  pipeline: mongo.Document[],
  longestWaitMs: number,
  onClosing: (closed: Promise<void>) => void,
): AsyncGenerator<ControlReply, void> {
  const db = client.db(database);
  const session = client.startSession();
  const options = { session, readPreference: 'primary', ...SAFE_BSON } as const;
  let waitMs = Math.min(SHORTEST_WAIT_MS, longestWaitMs);
  let askedAt = performance.now();
  let upTo = new mongoose.mongo.Timestamp(0n);
  let command: mongo.Document = {
    aggregate: 1,
    pipeline: [{ $changeStream: {} }, ...pipeline],
    cursor: { batchSize: 0 },
    readConcern: { level: 'majority' },
    comment: 'tidemark control',
  };
  try {
    for (;;) {
      const reply = await bareCommand(db, command, { ...options, within: waitMs + ARRIVAL_MS });
      const cursor = reply['cursor'] as StreamCursor;
      const events = cursor.firstBatch ?? cursor.nextBatch ?? [];
      command = { getMore: cursorId(cursor.id), collection: '$cmd.aggregate', batchSize: MOST_EVENTS };
      upTo = toldUpTo(cursor) ?? upTo;
      yield { events, upTo, isComplete: events.length < MOST_EVENTS, askedAt };
      waitMs = events.length > 0 ? SHORTEST_WAIT_MS : waitMs * 2;
      waitMs = command['maxTimeMS'] = Math.min(waitMs, longestWaitMs);
      askedAt = performance.now();
    }
  } finally {
    onClosing(close(db, command, session).catch(() => undefined));
  }
}

/**
 * A token begins with its cluster time: a type byte, then seconds and counter as four bytes each, in hex. More may happen at
 * that time, which the log has perhaps not come to. Undefined without a token.
 */
function toldUpTo({ postBatchResumeToken: token }: StreamCursor): mongo.Timestamp | undefined {
  if (token === undefined) return undefined;
  const [, seconds = '0', counter = '0'] = FIRST.exec(token._data) ?? [];
  const at = { t: Number.parseInt(seconds, 16), i: Number.parseInt(counter, 16) };
  return new mongoose.mongo.Timestamp(new mongoose.mongo.Timestamp(at).toBigInt() - 1n);
}

async function close(db: mongo.Db, { getMore }: mongo.Document, session: mongo.ClientSession): Promise<void> {
  try {
    if (getMore !== undefined)
      await db.command({ killCursors: '$cmd.aggregate', cursors: [getMore] }, { session });
  } finally {
    await session.endSession();
  }
}
