import type { mongo, Connection } from 'mongoose';
import { Injectable, Logger } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import {
  FILTER_VERSIONS,
  INCOMPLETE_IDENTITIES,
  LEDGER,
  HEADS,
  MARKS,
  QUARANTINE,
  type TermAtWork,
  TermOverError,
  WorkedThrough,
} from '../../store/index.js';
import {
  type WatchedEvent,
  type AsideApplication,
  type LaneCounts,
  Tempo,
  type Work,
  type WatchState,
  type Fences,
  type EventsByTenant,
} from '../../protocol/index.js';
import { type Batch, HistoryLostError, isAhead, openStream, type Opening } from '../log/change-stream.js';
import { Batches } from '../batches.js';
import { type Advance, Lease } from '../lease.js';

const SHORTEST_MS = 1000;
const LONGEST_MS = 30_000;

/** How long to wait (milliseconds) after a number of consecutive failures: twice as long each time, up to half a minute. */
export function pauseBehind(troubles: number): number {
  return Math.min(SHORTEST_MS * 2 ** Math.max(0, troubles - 1), LONGEST_MS);
}

/** Without these the watcher's own memory has a gap: their loss is handled like a lost history. */
export const MEMORY = [LEDGER, MARKS, HEADS, FILTER_VERSIONS, INCOMPLETE_IDENTITIES, QUARANTINE];

/** A change makes a tombstone, or a stamp and an `emailkey`: more echoes than these are not its own. */
const MOST_ECHOES = 2;
/** How much work an echo is, where a change is 1: a tombstone takes a quarter of the time of its delete (60,000 of each). */
const ECHO = 0.25;

type Counted = LaneCounts['done'];

/**
 * How much a lane has to read. The events that the main stream has read since the application was put aside come to the lane as
 * well, and what the lane writes comes back to it: of the changes that are left, as many echoes are expected as those before had.
 */
export class LaneWork {
  private readonly read: Counted;
  private readonly done: Counted;
  private begun: Counted = NONE;
  /** What was written since, with the echoes that it will have: what the log had before is no addition to it. */
  private added = 0;
  private readonly tempo: Tempo;

  constructor({ read, done }: LaneCounts) {
    this.read = { ...read };
    this.done = { ...done };
    this.tempo = new Tempo(this.look());
  }

  /** The main stream has read these, which are new, or which the log had before. */
  expect(events: WatchedEvent[], areNew: boolean): void {
    const more = counted(events);
    add(this.read, more);
    if (areNew) this.added += more.changes * (1 + this.echoes * ECHO);
  }

  /** The lane begins to work these through. */
  begin(events: WatchedEvent[]): void {
    this.begun = counted(events);
  }

  /** It has worked through what it had begun. */
  end(): void {
    add(this.done, this.begun);
    this.begun = NONE;
  }

  /** What is stored of it. */
  told(): Work & Required<Pick<AsideApplication, 'counts'>> {
    const { read, done } = this;
    const look = this.look();
    // The lane may be ahead of the main stream.
    const left = Math.max(0, workOf(read) - look.done);
    const expected = Math.max(0, read.changes - this.worked) * this.echoes * ECHO;
    return {
      done: look.done,
      total: look.done + left + expected,
      pace: this.tempo.look(look),
      counts: { read: { ...read }, done: { ...done } },
    };
  }

  /** Changes of which the echoes may have been read. */
  private get worked(): number {
    return this.done.changes + this.begun.changes;
  }

  /** How many a change has. */
  private get echoes(): number {
    return this.worked === 0 ? 0 : Math.min(MOST_ECHOES, this.read.echoes / this.worked);
  }

  private look() {
    return { at: performance.now(), done: workOf(this.done), added: this.added };
  }
}

const NONE: Counted = { changes: 0, echoes: 0 };

function workOf({ changes, echoes }: Counted): number {
  return changes + echoes * ECHO;
}

function counted(events: WatchedEvent[]): Counted {
  const echoes = events.filter(isEcho).length;
  return { changes: events.length - echoes, echoes };
}

/** Whether the watcher has written it, as a rule. */
function isEcho(event: WatchedEvent): boolean {
  return event.type === 'tombstone' || (event.type === 'written' && (event.isStampOnly || event.isKeyOnly));
}

function add(to: Counted, { changes, echoes }: Counted): void {
  to.changes += changes;
  to.echoes += echoes;
}

/** What one term of a leader is about. */
export interface Term extends TermAtWork {
  client: mongo.MongoClient;
  state: WatchState;
  stop: AbortSignal;
}

/** Where a stream begins, and what has to be worked through before feeds may show anything. */
export interface Start {
  token: unknown;
  since: mongo.Timestamp | undefined;
}

/** An announcement reaches its own place in the log, and what comes next only what is before it. */
export function furthest(one: mongo.Timestamp | undefined, other: mongo.Timestamp): mongo.Timestamp {
  return one !== undefined && one.compare(other) > 0 ? one : other;
}

/** A collection was dropped or renamed, and only a pass over everything can find out what that means. */
export class CollectionLostError extends HistoryLostError {}

/** What a term does with a stream, whether a pass is under way beside it or not. */
@Injectable()
export class StreamWork {
  private readonly log = new Logger('Watcher');

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly lease: Lease,
    private readonly batches: Batches,
    private readonly workedThrough: WorkedThrough,
  ) {}

  open(
    term: Term,
    startAfter: unknown,
    options: Pick<Opening, 'longestWait'> = {},
  ): AsyncGenerator<Batch, void> {
    const { client, stop } = term;
    const opening = { db: client.db(this.connection.name), memory: MEMORY, startAfter, ...options };
    return openStream({ client, term, stop }, opening);
  }

  /** The fences are brought up to date. Throws where a collection is gone that the service cannot do without. */
  async workThrough(term: Term, { events }: Pick<Batch, 'events'>, fences: Fences): Promise<EventsByTenant> {
    const counts = await this.batches.workThrough(events, fences, term);
    const lost = events.find((event) => event.type === 'collectionLost');
    if (lost === undefined) return counts;
    if (lost.collection === LEDGER)
      this.log.error(
        'The ledger is gone, with the hard deletes that consumers have not read: they have to start over without from ' +
          '(docs/guarantees.md)',
      );
    throw new CollectionLostError(`${lost.what} of ${lost.collection}`);
  }

  /** Throws a TermOverError where another instance leads by now. */
  async save({ state }: Term, advance: Advance): Promise<void> {
    if (!(await this.lease.save(state.term, advance))) throw new TermOverError();
  }

  /** Saves that a pass has ended, in the same way. */
  async saveEndOfPass(
    { state }: Term,
    ended: Pick<WatchState, 'token' | 'watched' | 'since' | 'aside'>,
  ): Promise<void> {
    if (!(await this.lease.saveEndOfPass(state.term, ended))) throw new TermOverError();
  }

  /** A token from the future comes from another log, such as one before a restore: MongoDB itself would wait for it. */
  async assertPast(token: unknown): Promise<void> {
    if (isAhead(token, await this.presentTime()))
      throw new HistoryLostError('the resume token lies in the future of the log');
  }

  /** Where the log is now, everything written so far included. */
  async presentTime(): Promise<mongo.Timestamp> {
    const { at } = await this.workedThrough.now();
    return at;
  }
}
