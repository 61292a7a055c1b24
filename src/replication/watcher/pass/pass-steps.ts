import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import { COLLECTION_OF, type Kind, KINDS } from '../../../record/index.js';
import { Ledger, LedgerSlices, IncompleteIdentities } from '../../ledger/index.js';
import type { Concern } from '../../quarantine/index.js';
import { Resurrections, Restamps } from '../../stamping/index.js';
import { nextStretch, type Stretch, STRETCH_MS, type Way } from '../../walk/index.js';
import { PassCare } from './pass-care.js';
import { PassNumbers } from './pass-numbers.js';
import type { PassRun } from './pass-run.js';

/** One way over everything, of those that make a pass. */
export interface PassStep extends Pick<Way, 'next' | 'work'> {
  /** The same after a restart of another version: a pass goes on by it. */
  name: string;
  /** What a document is about that has to be looked after by itself. */
  concern: (id: mongo.ObjectId) => Concern;
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

const way = { key: '_id', among: {}, along: { _id: 1 } } as const;

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
    const incomplete = KINDS.map((kind) => this.incompleteOf(kind, run));
    const records = KINDS.map((kind) => this.recordsOf(kind, run));
    if (run.progress.isBare === true) return [...incomplete, ...records];
    return [...incomplete, this.entries(run), ...records, ...KINDS.map((kind) => this.ownersOf(kind, run))];
  }

  /** How many documents the steps go over: once more over the entries that live, which are the records when all are learned. */
  total({ records, entries, living, incomplete, isBare }: Size): number {
    return incomplete + (isBare ? records : entries + records + Math.max(living, records));
  }

  /** Before anything is learned: an incomplete identity could take the place of a record otherwise. */
  private incompleteOf(kind: Kind, run: PassRun): PassStep {
    return {
      name: `incomplete identities of ${COLLECTION_OF[kind]}`,
      concern: (owner) => ({ what: 'record', kind, owner }),
      next: (behind, most) => this.incomplete.nextStretch(kind, behind, most),
      work: (stretch) => this.numbers.forgetStale(kind, stretch, run),
    };
  }

  /**
   * Every entry is known as of the beginning of the stream before anybody looks whether it lives: else an overtaken
   * watcher could write down afterwards what it saw before that stream, and nobody would ever hear of the end of it.
   * Tombstones whose record is there live again; after a lost history the others are stamped anew.
   */
  private entries({ at, progress, term, keepUp }: PassRun): PassStep {
    return {
      name: 'ledger',
      concern: (owner) => ({ what: 'tombstone', owner }),
      next: (behind, most) => this.slices.nextEntries(behind, most),
      work: async (stretch) => {
        await this.slices.confirm(stretch, at);
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
      },
    };
  }

  private recordsOf(kind: Kind, run: PassRun): PassStep {
    const { at, progress } = run;
    const collection = this.connection.collection(COLLECTION_OF[kind]);
    const learn = (stretch: Stretch) =>
      progress.isBare === true
        ? this.slices.learnFirst(kind, stretch, at)
        : this.slices.learn(kind, stretch, at);
    return {
      name: COLLECTION_OF[kind],
      concern: (owner) => ({ what: 'record', kind, owner }),
      next: (behind, most) => nextStretch(collection, way, { behind, most, maxTimeMS: STRETCH_MS }),
      work: async (stretch) => {
        await learn(stretch);
        await this.care.take(kind, stretch, run);
        if (progress.isRepair) await this.care.restamp(kind, stretch, run);
      },
    };
  }

  /** A living entry without its record is a delete. */
  private ownersOf(kind: Kind, { at }: PassRun): PassStep {
    return {
      name: `owners of ${COLLECTION_OF[kind]}`,
      concern: (owner) => ({ what: 'record', kind, owner }),
      next: (behind, most) => this.slices.nextOwners(kind, behind, most),
      work: async (stretch) => {
        for await (const gone of this.slices.gone(kind, stretch))
          await this.ledger.learn(
            gone.map((identity) => ({ identity, at, alive: false as const, shortLived: false })),
          );
      },
    };
  }
}
