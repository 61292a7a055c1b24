import { randomUUID } from 'node:crypto';
import mongoose, { type mongo } from 'mongoose';
import { bareCommand, COMMAND_MS, cursorId, SAFE_BSON } from '../../../database/index.js';
import { eventPipeline, watchedEvent } from './event-pipeline.js';
import { asLongAsWorkedOn, type Sender, withComment } from './long-command.js';
import type { WatchedEvent } from '../../protocol/index.js';

const MOST_EVENTS = 1000;
/** A stream that was opened just now tells what the log has already, and does not wait for more (milliseconds). */
const FIRST_WAIT_MS = 1;
/** The server may miss the first sign of a majority write and wait until this is over, and a raise with it. */
const SHORTEST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 1000;
const TOKEN_TIME = /^[0-9a-f]{18}/i;
/** 10334: an event that is larger than MongoDB can send; nothing comes after it. */
const HISTORY_LOST = new Set([136, 260, 280, 286, 10334]);
/** What the server answers where it cannot even read the token it shall start after. */
const UNREADABLE_TOKEN = [9, 14, 15, 40647, 40649, 50811];
const LOST_AT_OPENING = new Set([...HISTORY_LOST, ...UNREADABLE_TOKEN]);

/** What happened to the records since the token cannot be told event by event: only a pass can find out. */
export class HistoryLostError extends Error {
  constructor(reason: string) {
    super(`The history of the records is lost: ${reason}`);
    this.name = 'HistoryLostError';
  }
}

/** What a stream is opened over, and from where. */
export interface Opening {
  db: mongo.Db;
  /** The collections whose loss is like a lost history, beside those of the records. */
  memory: string[];
  /** A token; from now on where there is none. */
  startAfter: unknown;
  /** For how long the server may wait for something to happen (milliseconds). */
  longestWait?: number;
}

/** Some events in commit order, and how far the log is read once they are worked through. Often none. */
export interface Batch {
  events: WatchedEvent[];
  token: unknown;
  /** The cluster time of which every event is worked through with this batch. */
  until: mongo.Timestamp;
  /** Whether the log had no more for the stream than this. */
  isLast: boolean;
}

/**
 * The change stream of the whole database from a token on, or from now. The bare commands are used since they hand over
 * a batch with its token at once. Ends when `stop` is aborted; the cursor is closed in any case, behind it.
 *
 * After a full batch the next one is read while that one is worked through; the two are all that is held in memory. The server
 * reads the log until a batch is full or the log is at its end, however much lies in between that concerns nobody here. So a batch
 * has at most twice as many events as the one before: where they are rare it is full with the
 * first, and there is one every few seconds, since the renewals of the lease are among them.
 */
export async function* openStream(
  sender: Sender,
  { db, memory, startAfter, longestWait = LONGEST_WAIT_MS }: Opening,
): AsyncGenerator<Batch, void> {
  const session = sender.client.startSession();
  const comment = `tidemark watcher ${randomUUID()}`;
  const shownAs = withComment(comment);
  const options = { session, readPreference: 'primary', ...SAFE_BSON } as const;
  let id: CursorId | undefined;
  try {
    const opened = await bareCommand(db, opening(startAfter, memory, comment), {
      ...options,
      within: COMMAND_MS,
    }).catch(lostIf(LOST_AT_OPENING));
    id = cursorId(cursorOf(opened).id);
    let last = rawIn(cursorOf(opened));
    let waitMs = FIRST_WAIT_MS;
    let batch = batchOf(cursorOf(opened), 1, startAfter);
    const readMore = (asked: number) => {
      const more = { getMore: id, collection: '$cmd.aggregate', batchSize: asked, maxTimeMS: waitMs };
      const read = asLongAsWorkedOn({ ...sender, shownAs }, (signal) =>
        db.command(more, { ...options, signal }),
      );
      // One that was read ahead may fail before it is awaited.
      read.catch(() => undefined);
      return read;
    };
    yield batch;
    let ahead: ReturnType<typeof readMore> | undefined;
    while (!sender.stop.aborted) {
      const asked = sizeBehind(last);
      const reply = await (ahead ?? readMore(asked)).catch(lostIf(HISTORY_LOST));
      if (reply === undefined) return;
      last = rawIn(cursorOf(reply));
      batch = batchOf(cursorOf(reply), asked, batch.token);
      const longer = Math.min(Math.max(waitMs * 2, SHORTEST_WAIT_MS), longestWait);
      waitMs = batch.events.length > 0 ? SHORTEST_WAIT_MS : longer;
      ahead = batch.isLast ? undefined : readMore(sizeBehind(last));
      yield batch;
    }
  } finally {
    void close(db, id, session).catch(() => undefined);
  }
}

/** Without a first batch: the server answers before it has read anything of the log. */
function opening(startAfter: unknown, memory: string[], comment: string): mongo.Document {
  return {
    aggregate: 1,
    pipeline: [{ $changeStream: startAfter === undefined ? {} : { startAfter } }, ...eventPipeline(memory)],
    cursor: { batchSize: 0 },
    readConcern: { level: 'majority' },
    comment,
  };
}

/** How many events to request after a batch of a given size. */
export function sizeBehind(events: number): number {
  return Math.min(Math.max(1, events * 2), MOST_EVENTS);
}

/** Not awaited: a server that has just lost the history of the cursor may never answer this. */
async function close(db: mongo.Db, id: CursorId | undefined, session: mongo.ClientSession): Promise<void> {
  try {
    if (id !== undefined) await db.command({ killCursors: '$cmd.aggregate', cursors: [id] }, { session });
  } finally {
    await session.endSession();
  }
}

type CursorId = mongo.Long | number | bigint;

interface StreamCursor {
  id: CursorId;
  firstBatch?: mongo.Document[];
  nextBatch?: mongo.Document[];
  /** A server that has just started may leave it out. */
  postBatchResumeToken?: Token;
}

interface Token {
  _data: string;
}

function cursorOf(reply: mongo.Document): StreamCursor {
  return reply['cursor'] as StreamCursor;
}

function rawIn({ firstBatch, nextBatch }: StreamCursor): number {
  return (firstBatch ?? nextBatch ?? []).length;
}

/**
 * Reads a reply to a request for `asked` events. A batch with fewer events, unknown ones included, is the last. Without a
 * token from the server the batch ends with its last event, or at `before`, the token of the previous batch. Throws an Error
 * if it has neither.
 */
export function batchOf(cursor: StreamCursor, asked: number, before: unknown): Batch {
  const raw = cursor.firstBatch ?? cursor.nextBatch ?? [];
  const events = raw.map(watchedEvent).filter((event) => event !== undefined);
  const token = (cursor.postBatchResumeToken ?? raw.at(-1)?.['_id'] ?? before) as Token | undefined;
  if (token === undefined) throw new Error('The server opened a change stream without a resume token');
  return { events, token, until: reached(timeOf(token), events.at(-1)), isLast: raw.length < asked };
}

/**
 * All events of a transaction have one cluster time, and a batch may end between them: a cluster time is reached only
 * when something later is seen. An announcement is never part of a transaction, so it needs not wait.
 */
export function reached(at: mongo.Timestamp, last: WatchedEvent | undefined): mongo.Timestamp {
  return last?.type === 'announced' && last.at.equals(at) ? at : justBefore(at);
}

function justBefore(at: mongo.Timestamp): mongo.Timestamp {
  return new mongoose.mongo.Timestamp(at.toBigInt() - 1n);
}

/** A token begins with its cluster time: a type byte, then seconds and counter as four bytes each, in hex. */
export function timeOf(token: Token): mongo.Timestamp {
  const seconds = Number.parseInt(token._data.slice(2, 10), 16);
  const counter = Number.parseInt(token._data.slice(10, 18), 16);
  return new mongoose.mongo.Timestamp({ t: seconds, i: counter });
}

/** Whether a token lies behind the end of the log. One that nobody can read does not: the server will say so itself. */
export function isAhead(token: unknown, end: mongo.Timestamp): boolean {
  const { _data } = token as { _data?: unknown };
  return typeof _data === 'string' && TOKEN_TIME.test(_data) && timeOf({ _data }).compare(end) > 0;
}

/** Throws an error on: with one of these codes as a HistoryLostError, else as it is. */
function lostIf(codes: Set<number>): (error: unknown) => never {
  return (error) => {
    const isLost = error instanceof mongoose.mongo.MongoServerError && codes.has(Number(error.code));
    throw isLost ? new HistoryLostError(error.message) : error;
  };
}

/** How often a pass turns to the stream (milliseconds). */
const EVERY_MS = 1000;

/** Reads a stream in between: a pass writes into the log, and must not lose its own place in it. */
export class Reader {
  private batch: Batch | undefined;
  private readAt = performance.now();

  constructor(private readonly stream: AsyncGenerator<Batch, void>) {}

  /** The last batch that was read and worked through. */
  get last(): Batch {
    if (this.batch === undefined) throw new Error('The change stream ended before it began');
    return this.batch;
  }

  async next(): Promise<Batch> {
    const { value, done } = await this.stream.next();
    if (done !== true) this.batch = value;
    return this.last;
  }

  /** Works through all that has come, once a second at most. */
  async keepUp(workThrough: (batch: Batch) => Promise<void>): Promise<void> {
    if (performance.now() - this.readAt < EVERY_MS) return;
    for (;;) {
      const { value, done } = await this.stream.next();
      if (done === true) break;
      await workThrough(value);
      this.batch = value;
      if (value.isLast) break;
    }
    this.readAt = performance.now();
  }
}
