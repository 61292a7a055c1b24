import type { mongo } from 'mongoose';
import { type Fences, markName } from '../../../src/replication/protocol/marks.js';
import { markOf } from '../service/progress.js';
import type { ModelRecord, StoredLane, StoredLease, StoredPass } from '../world/documents.js';
import type { ModelSteps } from '../world/steps.js';
import type { WatcherLife, ModelWorld } from '../world/world.js';

/** An application that is aside, in the memory of its term. */
export interface ModelLane {
  watcher: ModelWatcher;
  /** Dropped with the lane: one that was taken back or given up has ended before main goes on. */
  steps: ModelSteps;
  /** Whether it waits for main to come to its place. */
  isParked: boolean;
}

/** A leader in its term, with what it remembers. It may be overtaken without knowing. */
export class ModelWatcher {
  /** The fences passed. */
  fences: Fences = new Map();
  /** For a mutant: those of the beginning of the term. */
  fencesAtStart: Fences = new Map();
  /** The heads that this term has written, by application. */
  readonly headsWritten = new Map<string, Date>();
  /** The applications that are aside, where this is main. */
  readonly lanes = new Map<string, ModelLane>();
  /** Those of them that the batch under way takes back. */
  readonly joining = new Set<string>();
  /** For a mutant: entries that are still to be stored. */
  readonly unstored = new Map<string, StoredLane>();
  /** The place up to which the batch under way goes, or the last one went. */
  reaching = 0;
  /** The applications that the pass over everything under way leaves to passes of their own. */
  later: ReadonlySet<string> = new Set();
  /** Of a lane: the pass of its application that is due, and the end of the last one. */
  ownPass: StoredPass | undefined;
  since: mongo.Timestamp | undefined;
  /** Of main: whether its stream is open, and whether a pass over a created kind is reading. */
  hasStream = false;
  isKindReading = false;
  /** What is stored when the batch at work is worked through. */
  due: Pick<StoredLease, 'token' | 'watched'> | undefined;

  constructor(
    readonly world: ModelWorld,
    readonly own: { term: number; life: WatcherLife },
    /** How many events are worked through; nothing where a pass has to come first. */
    public token: number | undefined,
    public watched: mongo.Timestamp | undefined,
    /** The application of a lane; absent: main, which has all that are not aside. */
    readonly appid?: string,
  ) {
    this.reaching = token ?? 0;
  }

  /** Whether this loop is responsible for an application. */
  owns(appid: string): boolean {
    if (this.appid !== undefined) return this.appid === appid;
    if (this.later.has(appid)) return false;
    return !this.lanes.has(appid) || this.joining.has(appid) || this.isTakenToo(appid);
  }

  /** Whether there is an application that another loop is responsible for. */
  get isPartial(): boolean {
    return this.appid !== undefined || this.lanes.size > this.joining.size || this.later.size > 0;
  }

  /** A pass over everything begins: all lanes have ended. */
  giveUpLanes(): void {
    this.lanes.clear();
    this.joining.clear();
    this.unstored.clear();
  }

  /** For a mutant: main goes on with an application that has a pass of its own, or has had one. */
  private isTakenToo(appid: string): boolean {
    const { ownPass, since } = this.lanes.get(appid)?.watcher ?? {};
    const isOfOwnPass = ownPass !== undefined || since !== undefined;
    return isOfOwnPass && this.world.has('main works for applications with a pass of their own');
  }

  /** Can only make more stamps, never fewer. */
  takeMarksAsTheyStand(): void {
    const { marks } = this.world.database.now;
    this.fences = new Map([...marks].map(([name, { fence }]) => [name, fence]));
    this.fencesAtStart = new Map(this.fences);
  }

  pass(passed: Fences): void {
    for (const [name, fence] of passed) this.fences.set(name, fence);
  }

  /** Whether the mark of an application is raised, as far as the stream has passed. */
  isRaised(appid: string): boolean {
    const isAtStartOnly = this.world.has('raised marks known at the start only');
    return (isAtStartOnly ? this.fencesAtStart : this.fences).has(markName(markOf(appid)));
  }

  /** Whether a head has to be written: not where one lies above the fence already. */
  isNews(appid: string, head: Date): boolean {
    const headWritten = this.headsWritten.get(appid);
    const fence = this.fenceOf({ appid });
    return headWritten === undefined || (head > headWritten && (fence === undefined || headWritten <= fence));
  }

  /** The newest fence known of the mark of a record. */
  fenceOf({ appid }: Pick<ModelRecord, 'appid'>): Date | undefined {
    return this.fences.get(markName(markOf(appid)));
  }

  /** For a mutant: the token of the batch at work is stored, whoever leads, as if its effects had landed. */
  moveTokenTooEarly(): void {
    const { world, due } = this;
    const { database } = world;
    if (due === undefined || !world.has('an abandoned term moves the token')) return;
    database.write('moves the token', (tx) => tx.writeLease({ ...database.now.lease, ...due }));
  }

  /** Stores progress on condition of the term; false where the term is over. */
  save(what: string, { pass, ...progress }: Partial<StoredLease>): boolean {
    const { world, own } = this;
    const { database } = world;
    if (world.has('watched written without the term') && progress.watched !== undefined) {
      const { watched } = progress;
      database.write('watched, whoever leads', (tx) => tx.writeLease({ ...database.now.lease, watched }));
    }
    if (database.now.lease.term !== own.term) return false;
    const { pass: _over, ...lease } = database.now.lease;
    database.write(what, (tx) => tx.writeLease({ ...lease, ...progress, ...(pass && { pass }) }));
    return true;
  }
}
