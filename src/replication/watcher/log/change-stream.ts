import { randomUUID } from 'node:crypto';
import mongoose, { type mongo } from 'mongoose';
import { bareCommand, COMMAND_MS, cursorId, SAFE_BSON } from '../../../platform/database/index.js';
import { eventPipeline, watchedEvent } from './event-pipeline.js';
import { asLongAsWorkedOn, type Sender, withComment } from './long-command.js';
import type { WatchedEvent } from '../../protocol/index.js';

const MOST_EVENTS = 1000;
/** Wait of the first read for new events (milliseconds): it is to return only what the log already contains. */
const FIRST_WAIT_MS = 1;
/**
 * Wait after a batch with events (milliseconds). Short, because the server may miss the first signal of a majority
 * write and reply only after this wait, which delays a raise.
 */
const SHORTEST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 1000;
const TOKEN_TIME = /^[0-9a-f]{18}/i;
/** 10334: an event that is larger than MongoDB can send. The stream cannot continue after it. */
const HISTORY_LOST = new Set([136, 260, 280, 286, 10334]);
/** Errors of a server that cannot parse the resume token. */
const UNREADABLE_TOKEN = [9, 14, 15, 40647, 40649, 50811];
const LOST_AT_OPENING = new Set([...HISTORY_LOST, ...UNREADABLE_TOKEN]);

/** The changes since the token are no longer available as events. Only a pass can find them. */
export class HistoryLostError extends Error {
  constructor(reason: string) {
    super(`The history of the records is lost: ${reason}`);
    this.name = 'HistoryLostError';
  }
}

/** The parameters of a change stream. */
export interface Opening {
  db: mongo.Db;
  /** Collections whose loss is treated as lost history, in addition to those of the records. */
  memory: string[];
  /** A resume token; if undefined, the stream starts at the present. */
  startAfter: unknown;
  /** Longest time that the server may wait for new events (milliseconds). */
  longestWait?: number;
}

/** A batch of events in commit order, often empty, and the position to store once they are processed. */
export interface Batch {
  events: WatchedEvent[];
  token: unknown;
  /** The cluster time up to which all events are processed once this batch is. */
  until: mongo.Timestamp;
  /** Whether the stream had no further events to return. */
  isLast: boolean;
}

/**
 * Opens a change stream of the whole database, after a token or at the present. It uses raw commands because these
 * return each batch at once, together with its token. The stream ends when `stop` is aborted. The cursor is always
 * closed, in the background.
 *
 * After a full batch, the next batch is read while the full one is processed. At most these two are held in memory. The
 * server reads the log until a batch is full or the log ends, however many irrelevant entries it has to skip. Therefore
 * each request asks for twice as many events as the previous reply contained, at least one and at most 1,000. If events
 * are rare, the first one fills the batch. The renewals of the lease provide one every few seconds.
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
      // A batch that is read ahead may fail before it is awaited.
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

/** The first batch is empty, so that the server replies before it reads the log. */
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

/** Not awaited: a server that has just lost the history of the cursor may never reply. */
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
  /** A server that has just started may omit it. */
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
 * Reads a reply to a request for `asked` events. A batch with fewer events, unknown ones included, is the last. Without
 * a token from the server the batch ends with its last event, or at `before`, the token of the previous batch. Throws
 * an Error if there is no token at all.
 */
export function batchOf(cursor: StreamCursor, asked: number, before: unknown): Batch {
  const raw = cursor.firstBatch ?? cursor.nextBatch ?? [];
  const events = raw.map(watchedEvent).filter((event) => event !== undefined);
  const token = (cursor.postBatchResumeToken ?? raw.at(-1)?.['_id'] ?? before) as Token | undefined;
  if (token === undefined) throw new Error('The server opened a change stream without a resume token');
  return { events, token, until: reached(timeOf(token), events.at(-1)), isLast: raw.length < asked };
}

/**
 * All events of a transaction share one cluster time, and a batch may end between them. A cluster time is therefore reached
 * only when a later event is seen. An announcement is never part of a transaction, so its own cluster time is reached at
 * once.
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

/** Whether a token is later than the end of the log. False for an unreadable token, which the server itself rejects. */
export function isAhead(token: unknown, end: mongo.Timestamp): boolean {
  const { _data } = token as { _data?: unknown };
  return typeof _data === 'string' && TOKEN_TIME.test(_data) && timeOf({ _data }).compare(end) > 0;
}

/** Rethrows an error: as a HistoryLostError if it has one of these codes, otherwise unchanged. */
function lostIf(codes: Set<number>): (error: unknown) => never {
  return (error) => {
    const isLost = error instanceof mongoose.mongo.MongoServerError && codes.has(Number(error.code));
    throw isLost ? new HistoryLostError(error.message) : error;
  };
}

/** How often a pass reads the stream (milliseconds). */
const EVERY_MS = 1000;

/** Reads a stream during a pass. A pass adds to the log, so the stream must advance before the log drops its position. */
export class Reader {
  private batch: Batch | undefined;
  private readAt = performance.now();

  constructor(private readonly stream: AsyncGenerator<Batch, void>) {}

  /** The last batch that `next` has returned or `keepUp` has processed. Throws an Error if there is none. */
  get last(): Batch {
    if (this.batch === undefined) throw new Error('The change stream ended before it began');
    return this.batch;
  }

  async next(): Promise<Batch> {
    const { value, done } = await this.stream.next();
    if (done !== true) this.batch = value;
    return this.last;
  }

  /** Processes all available batches, at most once a second. */
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
