import { Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { mongo } from 'mongoose';
import { settledWithin } from '../../../platform/common/index.js';
import { kindNames } from '../../../kinds/index.js';
import type { Tenant } from '../../../record/index.js';
import type { Batch } from '../log/change-stream.js';
import {
  type Fences,
  markName,
  type AsideApplication,
  type LogPlace,
  type Pace,
  placeOf,
  Tempo,
  type EventsByTenant,
  heaviest,
} from '../../protocol/index.js';
import { TermOverError } from '../../store/index.js';
import { type Beside, Lane, type LaneTools } from './lane.js';
import { furthest, type Term } from './stream-work.js';

/** With this many lanes that have no pass, no further application is put aside: each lane reads the log once more. */
const MOST_ASIDE = 4;
/** A lane that waits to begin with a pass is started only while fewer than this many run one. */
const MOST_PASSES = 2;
/**
 * A batch of this many events delays other applications if the log has more. An application with at least `LARGE_SHARE`
 * of these events is the cause.
 */
const LARGE_BATCH = 250;
const LARGE_SHARE = 125;

/**
 * Size of the cache of moves, in characters, overhead included. Lanes read from it what the main stream knew of a moved
 * record.
 */
const MOVES_REMEMBERED = 32 * 1024 * 1024;
const MOVE_SIZE = 300;

/** The counts of an application that was just put aside. */
const NOTHING_YET = { read: { changes: 0, echoes: 0 }, done: { changes: 0, echoes: 0 } };

/** Longest wait for the loops to end (milliseconds). */
const LOOPS_END_MS = 5000;

/** A part of a batch, and the lane whose application the main stream takes back after it. */
interface Part {
  events: Batch['events'];
  joining?: Lane;
}

/**
 * The applications that are processed beside the main stream in a term (design §10). This class writes the positions of
 * the main stream and of the lanes, one write after the other, because each may contain the positions of all lanes.
 */
export class Lanes implements Beside {
  private readonly log = new Logger('Watcher');
  private readonly lanes = new Set<Lane>();
  /** Lanes that the next write of the main stream adds or removes. Until then the lease holds the previous state. */
  private readonly added = new Set<Lane>();
  private readonly joined = new Set<Lane>();
  private readonly moves = new LRUCache<string, object>({
    maxSize: MOVES_REMEMBERED,
    sizeCalculation: sizeOf,
  });
  private saving: Promise<unknown> = Promise.resolve();
  private failure: Error | undefined;
  private movedTo: mongo.Timestamp | undefined;
  /** The end of the last pass, or the later time to which it was moved. */
  private since: mongo.Timestamp | undefined;
  private place: LogPlace;
  private hasMore = false;
  /** Like `hasMore`, but true before the first batch, when nothing is known yet. */
  private wasBehind = true;
  private tempo: Tempo | undefined;

  /** Resumes the lanes of an earlier term, with the current fences. */
  constructor(
    private readonly tools: LaneTools,
    private readonly term: Term,
    /** The fences that the main stream has passed. */
    private readonly fences: Fences,
    token: unknown,
  ) {
    this.place = placeIn(token);
    this.since = term.state.since;
    for (const entry of term.state.aside ?? []) this.add(entry);
    this.startWaiting();
  }

  get reaching(): LogPlace {
    return this.place;
  }

  get isBehind(): boolean {
    return this.hasMore;
  }

  /** Whether the next write of the main stream must come at once. */
  get isChanged(): boolean {
    return this.added.size > 0 || this.joined.size > 0;
  }

  /** The term of the main stream: for all applications that are not aside. */
  get mainTerm(): Term {
    const { term, moves } = this;
    return { ...term, whole: term, moves, share: { but: [...this.lanes].map(({ tenant }) => tenant) } };
  }

  /** The main stream has reached a batch. Throws the error that ended a lane or made a write fail. */
  come({ events, token, isLast }: Batch): void {
    if (this.failure !== undefined) throw this.failure;
    for (const lane of this.lanes) {
      lane.assertWell();
      lane.expect(events, !this.wasBehind);
    }
    this.startWaiting();
    this.place = placeIn(token);
    this.hasMore = this.wasBehind = !isLast;
  }

  /**
   * Splits a batch where applications are taken back. After each part except the last, the main stream takes back one
   * application whose lane is parked there.
   */
  partsOf({ events, token }: Batch): Part[] {
    const end = placeIn(token);
    const joining = [...this.lanes]
      .flatMap((lane) =>
        lane.parkedAt !== undefined && lane.parkedAt <= end ? [{ lane, at: lane.parkedAt }] : [],
      )
      .sort((one, other) => (one.at < other.at ? -1 : 1));
    let from = '';
    const parts = joining.map(({ lane, at }): Part => {
      const part = events.filter(({ place }) => place > from && place <= at);
      from = at;
      return { events: part, joining: lane };
    });
    return [...parts, { events: events.filter(({ place }) => place > from) }];
  }

  /** From here on, the main stream processes the application of the lane, with the fences that the lane has passed. */
  takeBack(lane: Lane): void {
    for (const name of namesOf(lane.tenant)) {
      const fence = lane.fences.get(name);
      if (fence !== undefined) this.fences.set(name, fence);
    }
    this.lanes.delete(lane);
    this.joined.add(lane);
    const { since } = lane.entry;
    if (since !== undefined) this.movedTo = this.since = furthest(this.since, since);
  }

  /**
   * Puts an application aside that delays others, if there is one and there are others. This takes effect with the next
   * write of the main stream, which must come before the next batch.
   */
  putAside({ events, token, isLast }: Batch, worked: EventsByTenant, watched: mongo.Timestamp): void {
    const beside = [...this.lanes].filter(({ isPassing }) => !isPassing).length;
    if (isLast || events.length < LARGE_BATCH || beside >= MOST_ASIDE) return;
    const tenant = heaviest(worked, LARGE_SHARE);
    if (tenant === undefined || !this.hasOthers(tenant)) return;
    this.added.add(this.add({ ...tenant, token, watched, counts: NOTHING_YET }));
  }

  /** Stores the position of the main stream, and which applications are aside from here on. */
  async saveMain(reached: { token: unknown; watched: mongo.Timestamp }): Promise<void> {
    await this.inTurn(async () => {
      const pace = this.paceAt(reached.watched);
      // The main stream has one `since` for all its applications: after it took back one that had a pass of its own,
      // no moment before the end of that pass is shown of any of them.
      const since = this.since && { since: this.since };
      await this.tools.work.save(this.term, { ...reached, pace, ...since, aside: entriesOf(this.lanes) });
      this.begun();
    });
  }

  save(): Promise<void> {
    return this.inTurn(() => {
      const kept = [...this.lanes].filter((lane) => !this.added.has(lane));
      return this.tools.work.save(this.term, { aside: entriesOf([...kept, ...this.joined]) });
    });
  }

  /** Moves `since` to the present. */
  async moveSince(): Promise<void> {
    const present = await this.tools.work.presentTime();
    await this.inTurn(() => {
      this.since = furthest(this.since, present);
      return this.tools.work.save(this.term, { since: this.since });
    });
    this.movedTo = this.since;
  }

  /** Returns the time to which `since` was moved, once after each move. */
  sinceMoved(): mongo.Timestamp | undefined {
    const moved = this.movedTo;
    this.movedTo = undefined;
    return moved;
  }

  /**
   * Ends all loops. Throws a TermOverError if one does not end soon, because no other work of the term may run beside it.
   */
  async end(): Promise<void> {
    const loops = [...this.lanes].map((lane) => lane.end());
    const ended = Promise.all([...loops, this.saving]).then(() => true);
    if (!(await settledWithin(ended, LOOPS_END_MS)))
      throw new TermOverError(
        'The separate processing of applications does not end, so the term is given up',
      );
  }

  /**
   * Starts waiting lanes: all that have a place in the log, and of those that begin with a pass, as many as may run at a
   * time.
   */
  private startWaiting(): void {
    const running = [...this.lanes].filter(({ isPassing, isWaiting }) => isPassing && !isWaiting);
    let free = MOST_PASSES - running.length;
    for (const lane of this.lanes) {
      if (!lane.isWaiting || !lane.isDue || this.added.has(lane)) continue;
      if (lane.isPassing && free-- <= 0) continue;
      lane.start();
    }
  }

  /**
   * Added and joined lanes are stored. Must be called before the next write, which would otherwise store the previous state.
   */
  private begun(): void {
    for (const lane of this.joined) this.logLane(lane, 'is processed together with all others again');
    for (const lane of this.added)
      this.logLane(lane, 'is processed separately from all others from now on, because it delays them');
    const begun = [...this.added];
    this.joined.clear();
    this.added.clear();
    for (const lane of begun) lane.start();
  }

  /** Progress in seconds of the log. Each second of real time adds one. */
  private paceAt(watched: mongo.Timestamp): Pace {
    const at = performance.now();
    const sample = { at, done: watched.getHighBitsUnsigned(), added: at / 1000 };
    this.tempo ??= new Tempo(sample);
    return this.tempo.measure(sample);
  }

  private add(entry: AsideApplication): Lane {
    const fences: Fences = new Map();
    for (const name of namesOf(entry)) {
      const fence = this.fences.get(name);
      if (fence !== undefined) fences.set(name, fence);
    }
    const term = { ...this.term, moves: this.moves };
    const lane = new Lane(this.tools, term, this, entry, fences);
    this.lanes.add(lane);
    return lane;
  }

  /** Whether any other application was ever read, that is, its mark was raised. */
  private hasOthers(tenant: Tenant): boolean {
    const own = new Set(namesOf(tenant));
    for (const name of this.fences.keys()) if (!own.has(name)) return true;
    return false;
  }

  /** A write that has failed may still be applied later, so no write may follow it. */
  private inTurn(write: () => Promise<void>): Promise<void> {
    const written = this.saving.then(() => {
      if (this.failure !== undefined) throw this.failure;
      return write();
    });
    this.saving = written.catch((error: unknown) => (this.failure ??= error as Error));
    return written;
  }

  private logLane({ tenant: { organizationid, appid } }: Lane, what: string): void {
    this.log.log(`Application ${appid} of ${organizationid} ${what}`);
  }
}

function sizeOf(identity: object): number {
  const texts = Object.values(identity).filter((value) => typeof value === 'string');
  return texts.reduce((sum, text) => sum + text.length, MOVE_SIZE);
}

function placeIn(token: unknown): LogPlace {
  return placeOf(token as { _data: string });
}

function namesOf({ organizationid, appid }: Tenant): string[] {
  return kindNames().map((kind) => markName({ organizationid, appid, kind }));
}

function entriesOf(lanes: Iterable<Lane>): AsideApplication[] {
  return [...lanes].map(({ entry }) => entry);
}
