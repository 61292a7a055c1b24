import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection } from 'mongoose';
import { COLLECTION_OF, type Kind, KINDS, type Tenant } from '../../../record/index.js';
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
  nextStretch,
  type Stretch,
  STRETCH_MS,
  type Way,
  type EntryStretch,
  IncompleteIdentities,
  Ledger,
  LedgerSlices,
  type Concern,
} from '../../store/index.js';
import { PassCare } from './pass-care.js';
import { PassNumbers, type PassRun } from './pass-numbers.js';

/** One way over everything of a share, of those that make a pass. */
export interface PassStep<S extends Found = Found> extends Pick<Way<S>, 'next' | 'work'> {
  /** The same after a restart of another version: a pass goes on by it. */
  name: string;
  /** What a document is about that has to be looked after by itself. */
  concern: (stretch: S) => Concern;
}

/** How many documents there are when a pass begins. */
interface Size {
  records: number;
  entries: number;
  /** How many of the entries are alive. */
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
    private readonly care: PassCare,
    private readonly resurrections: Resurrections,
    private readonly restamps: Restamps,
  ) {}

  /**
   * Where the ledger was empty when the pass began, all that is in it was learned by the pass itself or from its stream,
   * as of the opening of that stream or later: then the records are all there is to go over. What became of them since
   * they were learned, the stream tells.
   */
  list(run: PassRun): PassStep[] {
    const { share } = run.term;
    const incomplete = KINDS.map((kind) => this.incompleteOf(kind, run));
    const records = KINDS.map((kind) => this.recordsOf(kind, run));
    if (run.progress.isBare === true) return namedFor(share, [...incomplete, ...records]);
    const [before, behind] =
      'only' in share
        ? [
            KINDS.map((kind) => this.entriesOf(share.only, kind, run)),
            KINDS.map((kind) => this.livingOf(share.only, kind, run)),
          ]
        : [[this.entries(run)], KINDS.map((kind) => this.ownersOf(kind, run))];
    return namedFor(share, [...incomplete, ...before, ...records, ...behind] as PassStep[]);
  }

  /** How many documents the steps go over: once more over the entries that live, which are the records when all are learned. */
  total({ records, entries, living, incomplete, isBare }: Size): number {
    return incomplete + (isBare ? records : entries + records + Math.max(living, records));
  }

  /** Before anything is learned: an incomplete identity could take the place of a record otherwise. */
  private incompleteOf(kind: Kind, run: PassRun): PassStep {
    return {
      name: `incomplete identities of ${COLLECTION_OF[kind]}`,
      concern: ({ end }) => ({ what: 'record', kind, owner: end }),
      next: (behind, most) => this.incomplete.nextStretch(kind, behind, most, walkedIn(run.term.share)),
      work: (stretch) => this.numbers.forgetStale(kind, stretch, run),
    };
  }

  /**
   * Every entry is known as of the beginning of the stream before anybody looks whether it lives: else an overtaken
   * watcher could write down afterwards what it saw before that stream, and nobody would ever hear of the end of it.
   * Tombstones whose record is there live again; after a lost history the others are stamped anew.
   */
  private entries(run: PassRun): PassStep<EntryStretch> {
    return {
      name: 'ledger',
      concern: ({ end }) => ({ what: 'tombstone', owner: end }),
      next: (behind, most) => this.slices.nextEntries(run.term.share, behind, most),
      work: (stretch) => this.confirm(stretch, run),
    };
  }

  /** The same for one application and kind. */
  private entriesOf(tenant: Tenant, kind: Kind, run: PassRun): PassStep<EntryStretch> {
    return {
      name: `ledger of ${COLLECTION_OF[kind]}`,
      concern: ({ end }) => ({ what: 'tombstone', owner: end }),
      next: (behind, most) => this.slices.nextOfTenant(tenant, kind, behind, most),
      work: (stretch) => this.confirm(stretch, run),
    };
  }

  private async confirm(stretch: EntryStretch, { at, progress, term, keepUp }: PassRun): Promise<void> {
    await this.slices.confirm(stretch, at);
    term.showLife();
    for await (const dead of this.slices.tombstones(stretch)) {
      for (const kind of KINDS)
        await this.resurrections.look(
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
    const collection = this.connection.collection(COLLECTION_OF[kind]);
    const learn = (stretch: Stretch) =>
      progress.isBare === true
        ? this.slices.learnFirst(kind, { stretch, share }, at)
        : this.slices.learn(kind, { stretch, share }, at);
    return {
      name: COLLECTION_OF[kind],
      concern: ({ end }) => ({ what: 'record', kind, owner: end }),
      next: (behind, most) => nextStretch(collection, way, { behind, most, maxTimeMS: STRETCH_MS }),
      work: async (stretch) => {
        await learn(stretch);
        term.showLife();
        await this.care.take(kind, stretch, run);
        term.showLife();
        if (progress.isRepair) await this.care.restamp(kind, stretch, run);
      },
    };
  }

  /** A living entry without its record is a delete. */
  private ownersOf(kind: Kind, { at, term: { share } }: PassRun): PassStep {
    return {
      name: `owners of ${COLLECTION_OF[kind]}`,
      concern: ({ end }) => ({ what: 'record', kind, owner: end }),
      next: (behind, most) => this.slices.nextOwners(kind, behind, most),
      work: (stretch) => this.bury(this.slices.gone(kind, { stretch, share }), at),
    };
  }

  /** The same for one application. */
  private livingOf(tenant: Tenant, kind: Kind, { at }: PassRun): PassStep<EntryStretch> {
    return {
      name: `owners of ${COLLECTION_OF[kind]}`,
      concern: ({ owner, end }) =>
        owner === undefined ? { what: 'tombstone', owner: end } : { what: 'record', kind, owner },
      next: (behind, most) => this.slices.nextOfTenant(tenant, kind, behind, most),
      work: (stretch) => this.bury(this.slices.goneAmong(kind, stretch), at),
    };
  }

  private async bury(gone: AsyncIterable<Identity[]>, at: LogPlace): Promise<void> {
    for await (const some of gone)
      await this.ledger.learn(some.map((identity) => ({ identity, at, alive: false, shortLived: false })));
  }
}

/**
 * Whose documents the stretches of a pass are made of. Where it leaves out some applications, of all: it would else have to read through
 * the millions of records of a large one to find the end of a stretch.
 */
function walkedIn(share: AppShare): AppShare {
  return 'only' in share ? share : ALL;
}

/**
 * Where a pass leaves out applications its steps have names of their own: an earlier version, which passes over all of them, then begins
 * with the first step.
 */
function namedFor(share: AppShare, steps: PassStep[]): PassStep[] {
  if ('only' in share || share.but.length === 0) return steps;
  return steps.map((step) => ({ ...step, name: `${step.name} but for large applications` }));
}
