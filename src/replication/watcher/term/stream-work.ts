import type { mongo, Connection } from 'mongoose';
import { Injectable, Logger } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import {
  FILTER_VERSIONS,
  INCOMPLETE_IDENTITIES,
  KnownKinds,
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
import { createdKindOf } from '../../../kinds/index.js';
import { KindPasses } from '../pass/kind-passes.js';
import { type Batch, HistoryLostError, isAhead, openStream, type Opening } from '../log/change-stream.js';
import { Batches } from '../batches.js';
import { type Advance, Lease } from '../lease.js';

const SHORTEST_MS = 1000;
const LONGEST_MS = 30_000;

/** How long to wait (milliseconds) after a number of consecutive failures: twice as long each time, up to half a minute. */
export function pauseBehind(troubles: number): number {
  return Math.min(SHORTEST_MS * 2 ** Math.max(0, troubles - 1), LONGEST_MS);
}

/** The collections that hold the watcher's own memory. The loss of one is treated as lost history. */
const MEMORY = [LEDGER, MARKS, HEADS, FILTER_VERSIONS, INCOMPLETE_IDENTITIES, QUARANTINE];

/**
 * Maximum number of echoes per change: a change causes a tombstone, or a stamp and an `emailkey`. Further echoes belong
 * to other changes.
 */
const MOST_ECHOES = 2;
/**
 * Work of an echo, relative to that of a change: a tombstone took a quarter of the time of its delete (60,000 of each).
 */
const ECHO = 0.25;

type Counted = LaneCounts['done'];

/**
 * Estimates the remaining work of a lane. The lane also reads the events that the main stream has read since the application
 * was put aside, and its own writes return to it as echoes. Each remaining change is expected to have as many echoes as the
 * changes before it had.
 */
export class LaneWork {
  private readonly read: Counted;
  private readonly done: Counted;
  private begun: Counted = NONE;
  /** Work added by new events, including their expected echoes. Events that the log already contained are not counted. */
  private added = 0;
  private readonly tempo: Tempo;

  constructor({ read, done }: LaneCounts) {
    this.read = { ...read };
    this.done = { ...done };
    this.tempo = new Tempo(this.sample());
  }

  /** The main stream has read these events. `areNew` is false if the log already contained them. */
  expect(events: WatchedEvent[], areNew: boolean): void {
    const more = counted(events);
    add(this.read, more);
    if (areNew) this.added += more.changes * (1 + this.echoes * ECHO);
  }

  /** The lane begins to process these events. */
  begin(events: WatchedEvent[]): void {
    this.begun = counted(events);
  }

  /** The lane has processed the events that it had begun. */
  end(): void {
    add(this.done, this.begun);
    this.begun = NONE;
  }

  /** The part of the estimate that is stored. */
  progress(): Work & Required<Pick<AsideApplication, 'counts'>> {
    const { read, done } = this;
    const sample = this.sample();
    // The lane may be ahead of the main stream.
    const left = Math.max(0, workOf(read) - sample.done);
    const expected = Math.max(0, read.changes - this.worked) * this.echoes * ECHO;
    return {
      done: sample.done,
      total: sample.done + left + expected,
      pace: this.tempo.measure(sample),
      counts: { read: { ...read }, done: { ...done } },
    };
  }

  /** Changes whose echoes may have been read. */
  private get worked(): number {
    return this.done.changes + this.begun.changes;
  }

  /** Number of echoes per change. */
  private get echoes(): number {
    return this.worked === 0 ? 0 : Math.min(MOST_ECHOES, this.read.echoes / this.worked);
  }

  private sample() {
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

/** Whether the event was probably caused by a write of the watcher. */
function isEcho(event: WatchedEvent): boolean {
  return event.type === 'tombstone' || (event.type === 'written' && (event.isStampOnly || event.isKeyOnly));
}

function add(to: Counted, { changes, echoes }: Counted): void {
  to.changes += changes;
  to.echoes += echoes;
}

/** The context of one term of a leader. */
export interface Term extends TermAtWork {
  client: mongo.MongoClient;
  state: WatchState;
  stop: AbortSignal;
}

/** Where a stream begins, and the time up to which it must be processed before feeds may show anything. */
export interface Start {
  token: unknown;
  since: mongo.Timestamp | undefined;
}

/**
 * Returns the later of two times. A batch that ends with an announcement reaches the cluster time of its end, and the next
 * batch may only reach the time just before.
 */
export function furthest(one: mongo.Timestamp | undefined, other: mongo.Timestamp): mongo.Timestamp {
  return one !== undefined && one.compare(other) > 0 ? one : other;
}

/** A collection was dropped or renamed. Only a pass over everything can find out what changed. */
export class CollectionLostError extends HistoryLostError {}

/** Whether an event may report a change of the kinds. Such an event concerns all services. */
function concernsKinds(event: WatchedEvent): boolean {
  return event.type === 'services' && event.id === undefined && event.application === undefined;
}

/** Operations of a term on a stream, with or without a pass beside it. */
@Injectable()
export class StreamWork {
  private readonly log = new Logger('Watcher');

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly lease: Lease,
    private readonly batches: Batches,
    private readonly workedThrough: WorkedThrough,
    private readonly kindPasses: KindPasses,
    private readonly knownKinds: KnownKinds,
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

  /**
   * Updates the fences in place. Throws a CollectionLostError if a collection is gone that the service requires. The
   * loss of the collection of a created kind concerns only that kind.
   */
  async workThrough(term: Term, { events }: Pick<Batch, 'events'>, fences: Fences): Promise<EventsByTenant> {
    const counts = await this.batches.workThrough(events, fences, term);
    if (events.some(concernsKinds)) await this.knownKinds.refresh();
    const losses = events.filter((event) => event.type === 'collectionLost');
    for (const { collection, place } of losses) {
      const kind = createdKindOf(collection);
      if (kind !== undefined) await this.kindPasses.lose(kind, place);
    }
    const lost = losses.find(({ collection }) => createdKindOf(collection) === undefined);
    if (lost === undefined) return counts;
    if (lost.collection === LEDGER)
      this.log.error(
        'The ledger is gone, with the hard deletes that consumers have not read: they have to start over, without the parameter from ' +
          '(docs/guarantees.md)',
      );
    throw new CollectionLostError(`${lost.what} of ${lost.collection}`);
  }

  /** Throws a TermOverError if another instance leads now, and the error of a write of the passes over kinds. */
  async save({ state }: Term, advance: Advance): Promise<void> {
    this.kindPasses.assertWell();
    if (!(await this.lease.save(state.term, advance))) throw new TermOverError();
    // A pass over everything that begins later in this term asks which applications were never passed over.
    if (advance.aside !== undefined) state.aside = advance.aside;
  }

  /** Stores the end of a pass. Throws a TermOverError if another instance leads now. */
  async saveEndOfPass(
    { state }: Term,
    ended: Pick<WatchState, 'token' | 'watched' | 'since' | 'aside'>,
  ): Promise<void> {
    if (!(await this.lease.saveEndOfPass(state.term, ended))) throw new TermOverError();
  }

  /**
   * Throws a HistoryLostError for a token from the future: it belongs to another log, such as one before a restore, and
   * MongoDB itself would wait until its time is reached.
   */
  async assertPast(token: unknown): Promise<void> {
    if (isAhead(token, await this.presentTime()))
      throw new HistoryLostError('the resume token lies in the future of the log');
  }

  /** The current end of the log, including everything written so far. */
  async presentTime(): Promise<mongo.Timestamp> {
    const { at } = await this.workedThrough.now();
    return at;
  }
}
