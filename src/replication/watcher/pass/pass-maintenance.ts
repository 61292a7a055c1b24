import type { mongo, Connection } from 'mongoose';
import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import { recordsIn, HAS_GOOD_STAMP, textAt, textsAt } from '../../../record/index.js';
import { type Kind, CHANNEL_KIND, PERSON_KIND } from '../../../kinds/index.js';
import { alongIndex, statedIndex } from '../../../platform/database/index.js';
import { identityOf, type KnownChannel, textsOf, documentsOf, recordsAlong } from '../../protocol/index.js';
import { PRESENT, type PresentRecord } from '../repair/present-record.js';
import { RecordMaintenance } from '../repair/record-repair.js';
import { Restamps } from '../stamping/restamps.js';
import {
  inRange,
  slicesOf,
  type IdRange,
  RANGE_MS,
  KnownChannels,
  IncompleteIdentities,
  type TermAtWork,
} from '../../store/index.js';
import { PassNumbers, type PassRun } from './pass-numbers.js';

const isText = (path: string) => ({ $eq: [{ $type: path }, 'string'] });

/** A text that contains only ASCII has as many characters as bytes. */
const IS_ASCII = { $eq: [{ $strLenBytes: '$data.email' }, { $strLenCP: '$data.email' }] };
/** Trims and lower-cases ASCII as JavaScript does. The server does less for other letters. */
const LOWERED = { $toLower: { $trim: { input: '$data.email', chars: ' \t\n\v\f\r' } } };
const KEY = { $let: { vars: { key: LOWERED }, in: { $cond: [{ $eq: ['$$key', ''] }, null, '$$key'] } } };

/** Whether the `emailkey` of a member may differ from the key of its e-mail. Always true if it does differ. */
const MAY_LACK_KEY = {
  $cond: [
    isText('$data.email'),
    { $or: [{ $not: [IS_ASCII] }, { $ne: [textAt('$emailkey'), KEY] }] },
    { $ne: [{ $type: '$emailkey' }, 'missing'] },
  ],
};

const IS_WELL = { $and: [isText('$organizationid'), isText('$appid'), isText('$id'), HAS_GOOD_STAMP] };

/** Matches records that have to be repaired one by one. All others are learned as they are. */
function needsMaintenance(kind: Kind): mongo.Document {
  const mayLackKey = kind === PERSON_KIND ? [MAY_LACK_KEY] : [];
  return { $expr: { $or: [{ $not: [IS_WELL] }, ...mayLackKey] } };
}

/**
 * The distinct channels that products carry, with their application: `{organizationid, appid, channel}`. Uses
 * expressions, because a projection by names may stop at the second of two fields with the same name.
 */
const CARRIED: mongo.Document[] = [
  { $match: { $expr: { $and: [isText('$organizationid'), isText('$appid')] } } },
  {
    $project: {
      _id: 0,
      organizationid: '$organizationid',
      appid: '$appid',
      channel: textsAt('$channels'),
    },
  },
  { $unwind: '$channel' },
  { $group: { _id: { organizationid: '$organizationid', appid: '$appid', channel: '$channel' } } },
  { $replaceWith: '$_id' },
];

const AT_ONCE = 1000;
const FIRST = [{ $sort: { _id: 1 } }, { $limit: AT_ONCE }];
const bounded = { maxTimeMS: RANGE_MS };

/** The work of a pass on a range of records beyond learning them. Only records that lack something are read one by one. */
@Injectable()
export class PassMaintenance {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly channels: KnownChannels,
    private readonly incomplete: IncompleteIdentities,
    private readonly numbers: PassNumbers,
    private readonly maintenance: RecordMaintenance,
    private readonly restamps: Restamps,
  ) {}

  /**
   * Repairs records, stores incomplete identities, and learns channels. Each query may take as long as is allowed for a
   * range, so each is followed by a sign of life.
   */
  async take(kind: Kind, range: IdRange, run: PassRun): Promise<void> {
    const { at, term } = run;
    await this.incomplete.forgetPartials(kind, range, at, term.share);
    term.showLife();
    await this.numbers.displace(kind, range, run);
    term.showLife();
    if (kind === CHANNEL_KIND) await this.learnChannels(range, term);
    term.showLife();
    const maintenance = [{ $match: needsMaintenance(kind) }, ...FIRST, { $project: PRESENT }];
    await this.inBulks(kind, range, run, maintenance, async (records) => {
      await this.keepIncomplete(kind, records as PresentRecord[], run);
      await this.numbers.learn(kind, records as PresentRecord[], run);
      await this.maintenance.maintain(kind, { records: records as PresentRecord[], at, term });
    });
  }

  /** Stamps every record anew, in the short bulks of re-stamps. */
  restamp(kind: Kind, range: IdRange, run: PassRun): Promise<void> {
    return this.inBulks(kind, range, run, [...FIRST, { $project: { _id: 1 } }], async (records) => {
      const ids = records.map(({ _id }) => _id);
      await this.restamps.records(kind, ids, 'pass', run.term);
    });
  }

  /**
   * Reads each bulk when its turn comes: records that were read before the stream has advanced would be outdated. The stream
   * does not wait for the whole range.
   */
  private async inBulks(
    kind: Kind,
    { behind, end }: IdRange,
    { stop, keepUp, term: { share } }: PassRun,
    stages: mongo.Document[],
    work: (records: { _id: mongo.ObjectId }[]) => Promise<void>,
  ): Promise<void> {
    for (let last = behind; !stop.aborted;) {
      const which = { ...documentsOf(share), _id: inRange({ behind: last, end }) };
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

  private async learnChannels(range: IdRange, term: TermAtWork): Promise<void> {
    const { share } = term;
    const hint = await statedIndex(this.records(CHANNEL_KIND), recordsAlong(share));
    const channels = this.records(CHANNEL_KIND).aggregate<KnownChannel>(
      [{ $match: { ...documentsOf(share), _id: inRange(range) } }, ...CARRIED],
      { ...bounded, hint, allowDiskUse: true },
    );
    for await (const some of slicesOf(channels, ({ channel }) => channel)) {
      await this.channels.learn(some);
      term.showLife();
    }
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
    return recordsIn(this.connection, kind);
  }
}
