import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection } from 'mongoose';
import { collectionOf, type Kind } from '../../../kinds/index.js';
import { recordsIn, type Tenant } from '../../../record/index.js';
import {
  type Identity,
  ALL,
  type AppShare,
  documentsOf,
  type LogPlace,
  recordsAlong,
} from '../../protocol/index.js';
import { Resurrections } from '../stamping/resurrections.js';
import { Restamps } from '../stamping/restamps.js';
import {
  type Found,
  nextRange,
  type IdRange,
  RANGE_MS,
  type Way,
  type EntryRange,
  IncompleteIdentities,
  Ledger,
  LedgerSlices,
  type Concern,
} from '../../store/index.js';
import { PassMaintenance } from './pass-maintenance.js';
import { PassNumbers, type PassRun } from './pass-numbers.js';

/** One step of a pass: a walk over all documents of one type in a share. */
export interface PassStep<S extends Found = Found> extends Pick<Way<S>, 'next' | 'work'> {
  /** The same in every version, because a pass resumes by it after a restart. */
  name: string;
  /** What is set aside if a range of a single document fails. */
  concern: (range: S) => Concern;
}

/** Number of documents at the start of a pass. */
interface Size {
  records: number;
  entries: number;
  /** Number of living entries. */
  living: number;
  incomplete: number;
  isBare: boolean;
}

/** The steps of a pass, in their order. */
@Injectable()
export class PassSteps {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly ledger: Ledger,
    private readonly slices: LedgerSlices,
    private readonly incomplete: IncompleteIdentities,
    private readonly numbers: PassNumbers,
    private readonly maintenance: PassMaintenance,
    private readonly resurrections: Resurrections,
    private readonly restamps: Restamps,
  ) {}

  /**
   * If the ledger was empty when the pass began, all its entries were learned by the pass itself or from its stream, as of
   * the opening of that stream or later. Then only incomplete identities and records have to be passed over. The stream
   * reports what happened to the records after they were learned.
   */
  list(run: PassRun): PassStep[] {
    const { share } = run.term;
    const { kinds } = run;
    const incomplete = kinds.map((kind) => this.incompleteOf(kind, run));
    const records = kinds.map((kind) => this.recordsOf(kind, run));
    const owners = () => kinds.map((kind) => this.ownersOf(kind, run));
    if (run.progress.isBare === true) {
      // The stream beside a pass over a kind may have reported a delete just before the pass learned the record.
      return namedFor(share, [...incomplete, ...records, ...(run.isOfKind === true ? owners() : [])]);
    }
    const [before, behind] =
      'only' in share
        ? [
            kinds.map((kind) => this.entriesOf(share.only, kind, run)),
            kinds.map((kind) => this.livingOf(share.only, kind, run)),
          ]
        : [[this.entries(run)], owners()];
    return namedFor(share, [...incomplete, ...before, ...records, ...behind] as PassStep[]);
  }

  /**
   * Number of documents that the steps visit. Living entries are visited twice; once all records are learned, there are
   * at least as many living entries as records.
   */
  total({ records, entries, living, incomplete, isBare }: Size): number {
    return incomplete + (isBare ? records : entries + records + Math.max(living, records));
  }

  /** Runs before anything is learned. Otherwise an outdated incomplete identity could replace a record. */
  private incompleteOf(kind: Kind, run: PassRun): PassStep {
    return {
      name: `incomplete identities of ${collectionOf(kind)}`,
      concern: ({ end }) => ({ what: 'record', kind, owner: end }),
      next: (behind, most) => this.incomplete.nextRange(kind, behind, most, walkedIn(run.term.share)),
      work: (range) => this.numbers.forgetStale(kind, range, run),
    };
  }

  /**
   * Confirms every entry as of the beginning of the stream before checking whether its record exists. Otherwise a superseded
   * watcher could later write a life that it saw before that stream, and no event would ever end that life. Tombstones
   * whose record exists live again. After a lost history, the others are re-stamped.
   */
  private entries(run: PassRun): PassStep<EntryRange> {
    return {
      name: 'ledger',
      concern: ({ end }) => ({ what: 'tombstone', owner: end }),
      next: (behind, most) =>
        this.slices.nextEntries(run.term.share, behind, most, run.isOfKind === true ? run.kinds : undefined),
      work: (range) => this.confirm(range, run),
    };
  }

  /** Like {@link entries}, for one application and kind. */
  private entriesOf(tenant: Tenant, kind: Kind, run: PassRun): PassStep<EntryRange> {
    return {
      name: `ledger of ${collectionOf(kind)}`,
      concern: ({ end }) => ({ what: 'tombstone', owner: end }),
      next: (behind, most) => this.slices.nextOfTenant(tenant, kind, behind, most),
      work: (range) => this.confirm(range, run),
    };
  }

  private async confirm(range: EntryRange, run: PassRun): Promise<void> {
    const { at, progress, term, keepUp } = run;
    await this.slices.confirm(range, at);
    term.showLife();
    for await (const dead of this.slices.tombstones(range)) {
      for (const kind of run.kinds)
        await this.resurrections.review(
          kind,
          dead.filter((entry) => entry.kind === kind),
          { at, fences: new Map() },
          term,
        );
      const ids = dead.map(({ _id }) => _id);
      if (progress.isRepair) await this.restamps.tombstones(ids, 'pass', term);
      await keepUp();
    }
  }

  private recordsOf(kind: Kind, run: PassRun): PassStep {
    const { at, progress, term } = run;
    const { share } = term;
    const way = { key: '_id', among: documentsOf(walkedIn(share)), along: recordsAlong(share) };
    const collection = recordsIn(this.connection, kind);
    const learn = (range: IdRange) =>
      progress.isBare === true
        ? this.slices.learnFirst(kind, { range, share }, at)
        : this.slices.learn(kind, { range, share }, at);
    return {
      name: collectionOf(kind),
      concern: ({ end }) => ({ what: 'record', kind, owner: end }),
      next: (behind, most) => nextRange(collection, way, { behind, most, maxTimeMS: RANGE_MS }),
      work: async (range) => {
        await learn(range);
        term.showLife();
        await this.maintenance.take(kind, range, run);
        term.showLife();
        if (progress.isRepair) await this.maintenance.restamp(kind, range, run);
      },
    };
  }

  /** A living entry without its record is a delete. */
  private ownersOf(kind: Kind, { at, term: { share } }: PassRun): PassStep {
    return {
      name: `owners of ${collectionOf(kind)}`,
      concern: ({ end }) => ({ what: 'record', kind, owner: end }),
      next: (behind, most) => this.slices.nextOwners(kind, behind, most),
      work: (range) => this.bury(this.slices.gone(kind, { range, share }), at),
    };
  }

  /** Like {@link ownersOf}, for one application. */
  private livingOf(tenant: Tenant, kind: Kind, { at }: PassRun): PassStep<EntryRange> {
    return {
      name: `owners of ${collectionOf(kind)}`,
      concern: ({ owner, end }) =>
        owner === undefined ? { what: 'tombstone', owner: end } : { what: 'record', kind, owner },
      next: (behind, most) => this.slices.nextOfTenant(tenant, kind, behind, most),
      work: (range) => this.bury(this.slices.goneAmong(kind, range), at),
    };
  }

  private async bury(gone: AsyncIterable<Identity[]>, at: LogPlace): Promise<void> {
    for await (const some of gone)
      await this.ledger.learn(some.map((identity) => ({ identity, at, alive: false, shortLived: false })));
  }
}

/**
 * The documents from which the ranges of a pass are formed. Even if the pass leaves out some applications, these are
 * the documents of all applications: otherwise it would have to read through millions of records of a large application
 * to find the end of a range.
 */
function walkedIn(share: AppShare): AppShare {
  return 'only' in share ? share : ALL;
}

/**
 * If a pass leaves out applications, its steps have different names. An earlier version, which passes over all of them, then
 * begins with the first step.
 */
function namedFor(share: AppShare, steps: PassStep[]): PassStep[] {
  if ('only' in share || share.but.length === 0) return steps;
  return steps.map((step) => ({ ...step, name: `${step.name} but for large applications` }));
}
