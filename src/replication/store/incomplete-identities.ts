import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import { type Model, mongo } from 'mongoose';
import { refusedAsDuplicate } from '../../platform/database/index.js';
import { FIRST_ID, LAST_ID, type Tenant } from '../../record/index.js';
import type { Kind } from '../../kinds/index.js';
import { ALL, inShare, type LogPlace, type AppShare, upTo, type PartialIdentity } from '../protocol/index.js';
import { type Found, slicesOf, type IdRange, RANGE_MS } from './walk.js';
import {
  type IncompleteIdentity,
  type IncompleteKey,
  INCOMPLETE_IDENTITY_MODEL,
} from './collections.schema.js';

const MOST_COUNTED = 10_000;
const BY_ID = { _id: 1 } as const;
const RIVAL = {
  isNumber: true as const,
  organizationid: { $exists: true },
  appid: { $exists: true },
  id: { $exists: true },
};

/**
 * Stores what is known of records that cannot be delivered yet. The event that completes such a record contains only the
 * changed fields, and reading the record would return its current state instead of its state at the event.
 */
@Injectable()
export class IncompleteIdentities {
  constructor(
    @InjectModel(INCOMPLETE_IDENTITY_MODEL) private readonly incomplete: Model<IncompleteIdentity>,
  ) {}

  private get collection(): mongo.Collection<IncompleteIdentity> {
    return this.incomplete.collection as unknown as mongo.Collection<IncompleteIdentity>;
  }

  /**
   * The incomplete ones among these records, by the hex of their `_id`, each with what was learned last. With a share, only
   * knowledge of its applications counts.
   */
  async among(
    kind: Kind,
    owners: mongo.ObjectId[],
    share: AppShare = ALL,
  ): Promise<Map<string, PartialIdentity>> {
    const found = await this.allAmong(kind, owners, share);
    found.sort((one, other) => ((one.learned ?? '') < (other.learned ?? '') ? -1 : 1));
    return new Map(found.map(({ _id, ...known }) => [_id.owner.toHexString(), known]));
  }

  /** Like {@link among}, with all that is known of each record: one document for each application. */
  async allAmong(kind: Kind, owners: mongo.ObjectId[], share: AppShare = ALL): Promise<IncompleteIdentity[]> {
    if (owners.length === 0) return [];
    return this.collection.find(ofRecords(kind, owners, share)).toArray();
  }

  /** The `id`s among these that have rivals. The index covers the query. */
  async withRivals(kind: Kind, { organizationid, appid }: Tenant, ids: string[]): Promise<string[]> {
    const found = await this.collection
      .aggregate<{ _id: string }>([
        { $match: { '_id.kind': kind, organizationid, appid, id: { $in: ids }, isNumber: true } },
        { $group: { _id: '$id' } },
      ])
      .toArray();
    return found.map(({ _id }) => _id);
  }

  /** The rivals for an `id`, always in the same order, slice by slice. */
  async *rivalsFor(
    kind: Kind,
    { organizationid, appid }: Tenant,
    id: string,
  ): AsyncGenerator<mongo.ObjectId[]> {
    const found = this.collection
      .find({ '_id.kind': kind, organizationid, appid, id, isNumber: true })
      .sort({ '_id.owner': 1 });
    for await (const some of slicesOf(found, () => id)) yield some.map(({ _id }) => _id.owner);
  }

  /** The number of rivals, at most 10,000. */
  countRivals(kind: Kind): Promise<number> {
    return this.collection.countDocuments({ '_id.kind': kind, ...RIVAL }, { limit: MOST_COUNTED });
  }

  /**
   * Stores what is known of each record, then deletes what was known of it in other applications of the share. Knowledge of
   * a later place in the log is kept: an abandoned term may write its knowledge long after another term has learned more. In
   * that case the upsert fails with a duplicate `_id`, which is ignored.
   */
  async keep(
    kind: Kind,
    known: { owner: mongo.ObjectId; partial: PartialIdentity }[],
    share: AppShare = ALL,
  ): Promise<void> {
    if (known.length === 0) return;
    const writes = known.map(({ owner, partial }) => ({
      replaceOne: {
        filter: { _id: keyOf(kind, owner, partial), learned: upTo(partial.learned ?? '') },
        replacement: partial,
        upsert: true,
      },
    }));
    await this.collection.bulkWrite(writes, { ordered: false }).then(() => undefined, refusedAsDuplicate);
    await this.forgetElsewhere(kind, known, share);
  }

  /**
   * Stores rivals. Each is a record, given by the hex of its `_id`, with a complete identity under which another record is
   * known.
   */
  keepRivals(
    kind: Kind,
    rivals: { owner: string; identity: Tenant & { id: string } }[],
    learned: LogPlace,
    share: AppShare = ALL,
  ): Promise<void> {
    const known = rivals.map(({ owner, identity: { organizationid, appid, id } }) => ({
      owner: new mongo.ObjectId(owner),
      partial: { organizationid, appid, id, isNumber: true as const, learned },
    }));
    return this.keep(kind, known, share);
  }

  /** Deletes what is known of records that are complete or gone as of a place in the log. Later knowledge is kept. */
  async forget(kind: Kind, owners: mongo.ObjectId[], at: LogPlace, share: AppShare = ALL): Promise<void> {
    if (owners.length === 0) return;
    await this.collection.deleteMany({ ...ofRecords(kind, owners, share), learned: upTo(at) });
  }

  /** Like {@link forget}, with a separate place for each record. */
  async forgetEach(
    kind: Kind,
    known: { owner: mongo.ObjectId; at: LogPlace }[],
    share: AppShare = ALL,
  ): Promise<void> {
    if (known.length === 0) return;
    const writes = known.map(({ owner, at }) => ({
      deleteMany: { filter: { ...ofRecords(kind, [owner], share), learned: upTo(at) } },
    }));
    await this.collection.bulkWrite(writes, { ordered: false });
  }

  /** Deletes exactly these entries, unless more has been learned since. */
  async forgetThese(some: Pick<IncompleteIdentity, '_id' | 'learned'>[]): Promise<void> {
    if (some.length === 0) return;
    const writes = some.map(({ _id, learned = '' }) => ({
      deleteOne: { filter: { _id, learned: upTo(learned) } },
    }));
    await this.collection.bulkWrite(writes, { ordered: false });
  }

  /** The next range of incomplete records. */
  async nextRange(
    kind: Kind,
    behind: mongo.ObjectId | undefined,
    most: number,
    share: AppShare = ALL,
  ): Promise<Found | undefined> {
    const stages = [
      { $match: { _id: ofRange(kind, { behind, end: LAST_ID }), ...inShare(share, '_id.') } },
      { $sort: BY_ID },
      { $limit: most },
      { $group: { _id: null, count: { $sum: 1 }, end: { $max: '$_id.owner' } } },
    ];
    const [found] = await this.collection
      .aggregate<{ count: number; end: mongo.ObjectId }>(stages, { hint: BY_ID, maxTimeMS: RANGE_MS })
      .toArray();
    return found && { behind, end: found.end, count: found.count };
  }

  /** The incomplete identities in a range, slice by slice. */
  inRange(kind: Kind, range: IdRange, share: AppShare = ALL): AsyncGenerator<IncompleteIdentity[]> {
    const options = { hint: BY_ID, maxTimeMS: RANGE_MS };
    const found = this.collection.find({ _id: ofRange(kind, range), ...inShare(share, '_id.') }, options);
    return slicesOf(found, ({ id }) => id ?? '');
  }

  /**
   * Deletes what is known of the records in a range as of a place in the log, so that all of it can be learned again.
   * Rivals are kept: a rival may have to replace another record before the pass reaches the rival itself.
   */
  async forgetPartials(kind: Kind, range: IdRange, at: LogPlace, share: AppShare): Promise<void> {
    const partials = { learned: upTo(at), $nor: [RIVAL] };
    const own = inShare(share, '_id.');
    await this.collection.deleteMany({ $and: [{ _id: ofRange(kind, range), ...partials }, own] });
  }

  /** Deletes what was known of these records in other applications, unless it was learned later. */
  private async forgetElsewhere(
    kind: Kind,
    known: { owner: mongo.ObjectId; partial: PartialIdentity }[],
    share: AppShare,
  ): Promise<void> {
    const kept = new Map(known.map(({ owner, partial }) => [owner.toHexString(), partial]));
    const owners = known.map(({ owner }) => owner);
    const stored = await this.collection
      .find(ofRecords(kind, owners, share), { projection: { learned: 1 } })
      .toArray();
    const elsewhere = stored.filter(({ _id, learned = '' }) => {
      const partial = kept.get(_id.owner.toHexString())!;
      const { organizationid, appid } = keyOf(kind, _id.owner, partial);
      const isOther = _id.organizationid !== organizationid || _id.appid !== appid;
      return isOther && learned <= (partial.learned ?? '');
    });
    await this.forgetThese(elsewhere);
  }
}

function keyOf(
  kind: Kind,
  owner: mongo.ObjectId,
  { organizationid = null, appid = null }: { organizationid?: string | null; appid?: string | null },
): IncompleteKey {
  return { kind, owner, organizationid, appid };
}

function ofRecords(kind: Kind, owners: mongo.ObjectId[], share: AppShare): mongo.Document {
  return { '_id.kind': kind, '_id.owner': { $in: owners }, ...inShare(share, '_id.') };
}

/** Matches the records in a range, in all applications. */
function ofRange(kind: Kind, { behind, end }: IdRange): mongo.Document {
  const last = new mongo.MaxKey();
  const first =
    behind === undefined
      ? { $gte: { kind, owner: FIRST_ID } }
      : { $gt: { kind, owner: behind, organizationid: last } };
  return { ...first, $lte: { kind, owner: end, organizationid: last } };
}
