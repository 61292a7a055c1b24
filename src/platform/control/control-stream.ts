import { AsyncResource } from 'node:async_hooks';
import mongoose, { type mongo, type Connection } from 'mongoose';
import { Inject, Injectable, Logger, type OnModuleDestroy, Module } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import { bareCommand, cursorId, SAFE_BSON } from '../database/index.js';
import { pause, within } from '../common/index.js';
import { SETTINGS, type Settings } from '../config/index.js';
import { controlEvent, type Follower, controlPipeline } from './change.js';

const MOST_EVENTS = 1000;
/**
 * Wait for events after a reply with events (milliseconds); it doubles with each empty reply. It is short because the
 * server may miss the first signal of a majority write, and then replies only at the end of the wait.
 */
const SHORTEST_WAIT_MS = 20;
/** Wait for events while no request has used the caches for {@link UNUSED_MS} (milliseconds). */
const UNUSED_WAIT_MS = 1000;
/** A reply that is later than the requested wait by this much counts as lost (milliseconds). */
const ARRIVAL_MS = 5000;
const FIRST = /^[0-9A-F]{2}([0-9A-F]{8})([0-9A-F]{8})/i;

/** One reply of the stream. */
interface ControlReply {
  events: mongo.Document[];
  /** With this reply, everything up to this cluster time has been reported. */
  upTo: mongo.Timestamp;
  /** Whether the log had no further events when the reply was requested. */
  isComplete: boolean;
  /** When the reply was requested, on the clock of `performance`. */
  askedAt: number;
}

interface StreamCursor {
  id: mongo.Long | number | bigint;
  firstBatch?: mongo.Document[];
  nextBatch?: mongo.Document[];
  /** A server that has just started may omit it. */
  postBatchResumeToken?: { _data: string };
}

/** How long the server may wait for events (milliseconds): after a reply with events, and at most. */
interface Waits {
  shortest: number;
  longest: number;
}

/**
 * The changes of a database from now on, one reply for each request of the consumer. Uses bare commands, because they
 * return empty replies too and report how far the log was read. At the end the cursor is closed; `onClosing` receives
 * a promise for that, which never rejects.
 */
async function* controlReplies(
  client: mongo.MongoClient,
  database: string,
  pipeline: mongo.Document[],
  waits: () => Waits,
  onClosing: (closed: Promise<void>) => void,
): AsyncGenerator<ControlReply, void> {
  const db = client.db(database);
  const session = client.startSession();
  const options = { session, readPreference: 'primary', ...SAFE_BSON } as const;
  let waitMs = waits().shortest;
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
      upTo = reportedUpTo(cursor) ?? upTo;
      yield { events, upTo, isComplete: events.length < MOST_EVENTS, askedAt };
      const { shortest, longest } = waits();
      waitMs = events.length > 0 ? shortest : Math.max(shortest, waitMs * 2);
      waitMs = command['maxTimeMS'] = Math.min(waitMs, longest);
      askedAt = performance.now();
    }
  } finally {
    onClosing(close(db, command, session).catch(() => undefined));
  }
}

/**
 * Parses the cluster time at the start of a token: a type byte, then seconds and counter as four bytes each, in hex.
 * More events may follow at that time, so the result is the time just before it. Undefined without a token.
 */
function reportedUpTo({ postBatchResumeToken: token }: StreamCursor): mongo.Timestamp | undefined {
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

/** Number of replies requested within the maximum age of the knowledge, so that one late reply does no harm. */
const REPLIES_PER_AGE = 4;
/** After this time without a query, the stream requests fewer replies (milliseconds). */
const UNUSED_MS = 5000;
/** The stream ends after this time without a query, and restarts with the next one (milliseconds). */
const UNWANTED_MS = 300_000;
const PAUSE_MS = 200;
/** Time limit for optional operations (milliseconds): their connection may be dead without notice. */
const SOON_MS = 1000;

/**
 * Keeps the caches of an instance valid (design §9), by one change stream over the collections of all followers, which
 * hear the changes in log order. The stream runs while requests use the caches. The caches are valid while the last
 * complete reply was requested less than KNOWLEDGE_MS ago. Otherwise, or if KNOWLEDGE_MS is 0, every request reads the
 * database. While nothing uses the caches, the stream requests a reply about once a second, so the first requests
 * after a pause read the database. If the stream fails, everything cached is dropped; the next use starts a stream at
 * the current time.
 */
@Injectable()
export class ControlStream implements OnModuleDestroy {
  private readonly log = new Logger('Control');
  private readonly followers: Follower[] = [];
  private readonly stop = new AbortController();
  private isRunning = false;
  /** The stream outlives the request that begins it, and is not part of that request's trace. */
  private readonly runApart = AsyncResource.bind(() => this.run());
  private running: Promise<void> = Promise.resolve();
  private closed: Promise<void> = Promise.resolve();
  private wantedAt = -Infinity;
  private askedAt = -Infinity;
  private position: mongo.Timestamp | undefined;
  private heardClock: { time: Date; at: number } | undefined;

  constructor(
    @InjectConnection() private readonly connection: Connection,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** Closes the cursor while there is a connection; the server would otherwise keep it for minutes. */
  async onModuleDestroy(): Promise<void> {
    this.stop.abort();
    const ended = this.running.then(() => this.closed);
    await within(SOON_MS, 'The end of the control stream', ended).catch(() => undefined);
  }

  /** Call this before the first query: the collections of a running stream cannot be changed. */
  follow(follower: Follower): void {
    this.followers.push(follower);
  }

  /** Whether the caches are valid. A call starts the stream or keeps it running. */
  get isCurrent(): boolean {
    const now = performance.now();
    this.wantedAt = now;
    if (!this.isRunning) this.begin();
    return now - this.askedAt < this.settings.knowledgeMs;
  }

  /** Everything up to this cluster time was heard; undefined if nothing is known. */
  get heardUpTo(): mongo.Timestamp | undefined {
    return this.position;
  }

  /** The database's clock at the last event, a lower bound of its current time; undefined before the first event. */
  get clock(): Date | undefined {
    return this.heardClock?.time;
  }

  /** The estimated current time of the database's clock. */
  get clockByNow(): Date | undefined {
    if (this.heardClock === undefined) return undefined;
    const { time, at } = this.heardClock;
    return new Date(time.getTime() + performance.now() - at);
  }

  /**
   * A read that sees everything that was heard, even from a server that does not know yet that it was replaced as
   * primary.
   */
  async read<T>(read: (options: { session: mongo.ClientSession }) => Promise<T>): Promise<T> {
    const session = this.connection.getClient().startSession({ causalConsistency: true });
    if (this.position !== undefined) session.advanceOperationTime(this.position);
    try {
      return await read({ session });
    } finally {
      await session.endSession();
    }
  }

  /** Like {@link read}, for optional data: undefined if the read fails or takes too long. */
  readSoon<T>(read: (options: { session: mongo.ClientSession }) => Promise<T>): Promise<T | undefined> {
    return within(SOON_MS, 'A read', this.read(read)).catch(() => undefined);
  }

  private begin(): void {
    const { stop, settings, connection } = this;
    const isConnected = connection.readyState === mongoose.STATES.connected;
    if (settings.knowledgeMs === 0 || stop.signal.aborted || !isConnected) return;
    this.isRunning = true;
    this.running = this.runApart().finally(() => (this.isRunning = false));
  }

  /** Runs the stream until it is unused or fails, then pauses before a restart is possible. */
  private async run(): Promise<void> {
    try {
      await this.listen();
    } catch (error) {
      if (!this.stop.signal.aborted)
        this.log.debug({ err: error }, 'The control stream failed and is restarted');
    }
    this.forget();
    await pause(PAUSE_MS, this.stop.signal);
  }

  private async listen(): Promise<void> {
    const client = this.connection.getClient();
    const longest = Math.ceil(this.settings.knowledgeMs / REPLIES_PER_AGE);
    const used = { shortest: Math.min(SHORTEST_WAIT_MS, longest), longest };
    const unused = { shortest: UNUSED_WAIT_MS, longest: UNUSED_WAIT_MS };
    const waits = () => (performance.now() - this.wantedAt > UNUSED_MS ? unused : used);
    const pipeline = controlPipeline(this.followers);
    const onClosing = (closed: Promise<void>): void => {
      this.closed = closed;
    };
    const replies = controlReplies(client, this.connection.name, pipeline, waits, onClosing);
    let isBegun = false;
    for await (const reply of replies) {
      if (!isBegun) for (const follower of this.followers) follower.begun?.();
      isBegun = true;
      if (this.stop.signal.aborted || !this.hear(reply)) return;
      if (performance.now() - this.wantedAt > UNWANTED_MS) return;
    }
  }

  /** Returns false at the end of the stream. */
  private hear({ events, upTo, isComplete, askedAt }: ControlReply): boolean {
    for (const raw of events) {
      const event = controlEvent(raw);
      if (event?.type === 'ended') return false;
      if (raw['wallTime'] instanceof Date) this.heardClock = { time: raw['wallTime'], at: performance.now() };
      for (const follower of this.followers) {
        if (event?.type === 'changed' && event.collection === follower.collection)
          follower.hear(event.change);
        if (event?.type === 'lost' && event.collections.includes(follower.collection)) follower.forget();
      }
    }
    this.position = upTo;
    if (isComplete) this.askedAt = askedAt;
    return true;
  }

  private forget(): void {
    this.askedAt = -Infinity;
    this.position = this.heardClock = undefined;
    for (const follower of this.followers) follower.forget();
  }
}

@Module({ providers: [ControlStream], exports: [ControlStream] })
export class ControlModule {}
