import mongoose, { type mongo } from 'mongoose';
import { DeadlineError, pause } from '../common/index.js';
import { isRetryable, TOO_LATE } from './errors.js';
import { SAFE_BSON } from './options.js';

const NEVER = new AbortController().signal;

/** Pauses before a command without `operationTime` in its reply is sent again (milliseconds). */
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;

const MAX_TIME_EXPIRED = 50;

/** Options of a bare command, with its time limit (milliseconds). */
interface BareOptions extends mongo.RunCommandOptions {
  within: number;
}

/** Sends a command unchanged. On timeout it fails with a DeadlineError, and its connection is closed. */
export async function bareCommand(
  db: mongo.Db,
  command: mongo.Document,
  { within, ...options }: BareOptions,
): Promise<mongo.Document> {
  const late = new AbortController();
  const what = `The command ${Object.keys(command)[0]}`;
  const timer = setTimeout(() => late.abort(new DeadlineError(what, within)), within);
  try {
    return await db.command(command, { ...options, signal: late.signal });
  } finally {
    clearTimeout(timer);
  }
}

/** The time after which no further command is sent (milliseconds), and a signal that ends the wait early. */
interface PlacedOptions {
  within: number;
  stop?: AbortSignal;
}

/** A reply, and the cluster time at which the server answered. */
interface PlacedReply {
  reply: mongo.Document;
  at: mongo.Timestamp;
}

/**
 * Repeats a command until its reply has an `operationTime`, which a server omits for some seconds after a restart.
 * Repeating the command must do no harm; a raise, for example, may be sent several times. Throws a DeadlineError if no
 * reply has an `operationTime` in time, or before `stop` is aborted.
 */
export async function placedReply(
  what: string,
  send: () => Promise<mongo.Document>,
  { within, stop = NEVER }: PlacedOptions,
): Promise<PlacedReply> {
  const end = performance.now() + within;
  for (
    let ms = FIRST_PAUSE_MS;
    performance.now() < end && !stop.aborted;
    ms = Math.min(2 * ms, LONGEST_PAUSE_MS)
  ) {
    const reply = await send();
    const at: unknown = reply['operationTime'];
    if (at instanceof mongoose.mongo.Timestamp) return { reply, at };
    await pause(ms, stop);
  }
  throw new DeadlineError(`A reply with an operationTime (${what})`, within);
}

/**
 * The id of a cursor as the 64-bit integer that the server expects. The driver turns a small one into a number and
 * would send it as a double.
 */
export function cursorId(id: mongo.Long | number | bigint): mongo.Long | bigint {
  return typeof id === 'number' ? mongoose.mongo.Long.fromNumber(id) : id;
}

/** Maximum number of documents in a reply. The server sends fewer if they exceed 16 MB. */
const MOST_IN_REPLY = 100_000;

/** A `find` command without the options that {@link findAll} adds. */
interface Query {
  find: string;
  filter: mongo.Document;
  projection?: mongo.Document;
  sort?: mongo.Document;
  hint?: string | mongo.Document;
}

interface ReplyCursor<T> {
  id: mongo.Long | number | bigint;
  firstBatch?: T[];
  nextBatch?: T[];
}

/**
 * Returns the documents that a query finds, which should be some thousands at most. The driver reads them from one reply.
 * Its cursors need more than twice the CPU for each document. Like them, it sends the command again once if that may help.
 */
export async function findAll<T>(db: mongo.Db, query: Query): Promise<T[]> {
  // A session that is causally consistent would make the repeated command wait for the time of the failed one, and a
  // fail-over may have rolled that back.
  const session = db.client.startSession({ causalConsistency: false });
  const send = async (command: mongo.Document) => {
    const reply = await db.command(command, { session, readPreference: 'primary', ...SAFE_BSON });
    return reply['cursor'] as ReplyCursor<T>;
  };
  const first = { ...query, batchSize: MOST_IN_REPLY, readConcern: { level: 'majority' } };
  try {
    let cursor = await send(first).catch((error: unknown) => {
      if (!isRetryable(error)) throw error;
      return send(first);
    });
    const found = cursor.firstBatch ?? [];
    while (String(cursor.id) !== '0') {
      const more = { getMore: cursorId(cursor.id), collection: query.find, batchSize: MOST_IN_REPLY };
      cursor = await send(more);
      for (const document of cursor.nextBatch ?? []) found.push(document);
    }
    return found;
  } finally {
    await session.endSession();
  }
}

/** The options for a read as of one moment: pass them to `find` or `aggregate`. */
export interface SnapshotOptions {
  session: mongo.ClientSession;
  readConcern: { level: 'snapshot' };
  /** Lets operators tell the reads from others. */
  comment?: string;
}

/**
 * Reads as of a cluster time (design §3, Read). The driver's snapshot sessions take their time from their first read.
 * Here the time is set explicitly, which the driver's types do not declare.
 */
export async function readAsOf<T>(
  client: mongo.MongoClient,
  at: mongo.Timestamp,
  read: (options: SnapshotOptions) => Promise<T>,
): Promise<T> {
  const session = client.startSession({ snapshot: true });
  Object.assign(session, { snapshotTime: at });
  try {
    return await read({ session, readConcern: { level: 'snapshot' } });
  } finally {
    await session.endSession();
  }
}

/**
 * Runs work in a transaction. The driver would repeat a transaction that conflicts with another one, and a commit that
 * no majority confirms, for two minutes. Here a transaction is repeated for `ms` milliseconds, and then fails with the
 * error of a write that exceeds its time limit. A commit is not repeated: it ends as any other write does, and may have
 * taken effect even if it fails.
 */
export async function transactionWithin<T>(
  client: mongo.MongoClient,
  ms: number,
  work: (session: mongo.ClientSession) => Promise<T>,
  options: mongo.TransactionOptions = {},
): Promise<T> {
  const end = performance.now() + ms;
  let isAgain = false;
  return client.withSession((session) =>
    session.withTransaction(async () => {
      if (isAgain && performance.now() > end)
        throw new mongoose.mongo.MongoServerError({
          message: `This transaction conflicted with others for ${ms} ms`,
          code: MAX_TIME_EXPIRED,
          errorLabels: [TOO_LATE],
        });
      isAgain = true;
      const result = await work(session);
      await session.commitTransaction();
      return result;
    }, options),
  );
}
