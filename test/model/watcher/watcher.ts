import type { mongo } from 'mongoose';
import type { Fences } from '../../../src/replication/mark/fences.js';
import { markName } from '../../../src/replication/mark/mark.js';
import { APPLICATION, KIND, ORGANIZATION, type StoredLease, type ModelRecord } from '../world/documents.js';
import type { WatcherLife, ModelWorld } from '../world/world.js';

/** A leader in its term, with what it remembers. It may be overtaken without knowing. */
export class ModelWatcher {
  /** The fences passed. */
  fences: Fences = new Map();
  /** For a mutant: those of the beginning of the term. */
  private fencesAtStart: Fences = new Map();
  /** The head that this term has written. */
  headWritten: Date | undefined;
  /** The mark of the consumers' application. */
  readonly mark = markName({ kind: KIND, organizationid: ORGANIZATION, appid: APPLICATION });
  /** What is stored when the batch at work is worked through. */
  due: Pick<StoredLease, 'token' | 'watched'> | undefined;

  constructor(
    readonly world: ModelWorld,
    readonly own: { term: number; life: WatcherLife },
    /** How many events are worked through; nothing where a pass has to come first. */
    public token: number | undefined,
    public watched: mongo.Timestamp | undefined,
  ) {}

  /** Can only make more stamps, never fewer. */
  takeMarksAsTheyStand(): void {
    const { marks } = this.world.database.now;
    this.fences = new Map([...marks].map(([name, { fence }]) => [name, fence]));
    this.fencesAtStart = new Map(this.fences);
  }

  pass(passed: Fences): void {
    for (const [name, fence] of passed) this.fences.set(name, fence);
  }

  /** Whether the mark of the consumers' application is raised, as far as the stream has passed. */
  isRaised(): boolean {
    const isAtStartOnly = this.world.has('raised marks known at the start only');
    return (isAtStartOnly ? this.fencesAtStart : this.fences).has(this.mark);
  }

  /** Whether a head has to be written: not where one lies above the fence already. */
  isNews(head: Date): boolean {
    const { headWritten } = this;
    const fence = this.fences.get(this.mark);
    return headWritten === undefined || (head > headWritten && (fence === undefined || headWritten <= fence));
  }

  /** The newest fence known of the mark of a record. */
  fenceOf({ appid }: Pick<ModelRecord, 'appid'>): Date | undefined {
    return this.fences.get(markName({ kind: KIND, organizationid: ORGANIZATION, appid }));
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
