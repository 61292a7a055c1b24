import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import { alongIndex, statedIndex } from '../../../database/index.js';
import { COLLECTION_OF, type Kind } from '../../../record/index.js';
import {
  KnownChannels,
  identityOf,
  type KnownChannel,
  IncompleteIdentities,
  textsOf,
} from '../../ledger/index.js';
import { type AppShare, documentsOf, recordsAlong } from '../../progress/index.js';
import { PRESENT, type PresentRecord, RecordCare } from '../../repair/index.js';
import { Restamps } from '../../stamping/index.js';
import { inStretch, slicesOf, type Stretch, STRETCH_MS } from '../../walk/index.js';
import { CARRIED, NEEDS_CARE } from './pass-needs.js';
import { PassNumbers } from './pass-numbers.js';
import type { PassRun } from './pass-run.js';

const AT_ONCE = 1000;
const FIRST = [{ $sort: { _id: 1 } }, { $limit: AT_ONCE }];
const bounded = { maxTimeMS: STRETCH_MS };

/** What a pass does for the records of a stretch beyond learning them: only those that lack something come here. */
@Injectable()
export class PassCare {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly channels: KnownChannels,
    private readonly incomplete: IncompleteIdentities,
    private readonly numbers: PassNumbers,
    private readonly care: RecordCare,
    private readonly restamps: Restamps,
  ) {}

  /**
   * Repairs what is to repair, keeps what is no whole identity, and learns the channels. Each query may take as long as a stretch may, so
   * there is a sign of life behind each.
   */
  async take(kind: Kind, stretch: Stretch, run: PassRun): Promise<void> {
    const { at, term } = run;
    await this.incomplete.forgetPartials(kind, stretch, at, term.share);
    term.showLife();
    await this.numbers.displace(kind, stretch, run);
    term.showLife();
    if (kind === 'product') await this.learnChannels(stretch, term.share);
    term.showLife();
    const care = [{ $match: NEEDS_CARE[kind] }, ...FIRST, { $project: PRESENT }];
    await this.inBulks(kind, stretch, run, care, async (records) => {
      await this.keepIncomplete(kind, records as PresentRecord[], run);
      await this.numbers.learn(kind, records as PresentRecord[], run);
      await this.care.lookAfter(kind, { records: records as PresentRecord[], at, term });
    });
  }

  /** Stamps every record anew, in the short bulks that re-stamps have. */
  restamp(kind: Kind, stretch: Stretch, run: PassRun): Promise<void> {
    return this.inBulks(kind, stretch, run, [...FIRST, { $project: { _id: 1 } }], async (records) => {
      const ids = records.map(({ _id }) => _id);
      await this.restamps.records(kind, ids, 'pass', run.term);
    });
  }

  /**
   * Each bulk is read when its turn comes: what was read before the stream went on would be out of date. The stream does
   * not wait for the whole stretch.
   */
  private async inBulks(
    kind: Kind,
    { behind, end }: Stretch,
    { stop, keepUp, term: { share } }: PassRun,
    stages: mongo.Document[],
    work: (records: { _id: mongo.ObjectId }[]) => Promise<void>,
  ): Promise<void> {
    for (let last = behind; !stop.aborted;) {
      const which = { ...documentsOf(share), _id: inStretch({ behind: last, end }) };
      const records = await alongIndex(this.records(kind), recordsAlong(share), (hint) =>
        this.records(kind)
          .aggregate<{ _id: mongo.ObjectId }>([{ $match: which }, ...stages], { ...bounded, hint })
          .toArray(),
      );
      if (records.length > 0) await work(records);
      if (records.length < AT_ONCE) return;
      last = records.at(-1)!._id;
      await keepUp();
    }
  }

  private async learnChannels(stretch: Stretch, share: AppShare): Promise<void> {
    const hint = await statedIndex(this.records('product'), recordsAlong(share));
    const carried = this.records('product').aggregate<KnownChannel>(
      [{ $match: { ...documentsOf(share), _id: inStretch(stretch) } }, ...CARRIED],
      { ...bounded, hint, allowDiskUse: true },
    );
    for await (const some of slicesOf(carried, ({ channel }) => channel)) await this.channels.learn(some);
  }

  private async keepIncomplete(kind: Kind, records: PresentRecord[], { at, term }: PassRun): Promise<void> {
    const incomplete = records.filter((record) => identityOf(kind, record._id, record) === undefined);
    await this.incomplete.keep(
      kind,
      incomplete.map((record) => ({ owner: record._id, partial: textsOf(record, at) })),
      term.share,
    );
  }

  private records(kind: Kind): mongo.Collection {
    return this.connection.collection(COLLECTION_OF[kind]);
  }
}
