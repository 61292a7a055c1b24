import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import { type Model, mongo } from 'mongoose';
import { refusedAsDuplicate } from '../../database/index.js';
import { FIRST_ID, type Kind, LAST_ID, type Tenant } from '../../record/index.js';
import { ALL, inShare, type LogPlace, type AppShare, upTo, type PartialIdentity } from '../protocol/index.js';
import { type Found, slicesOf, type Stretch, STRETCH_MS } from './walk.js';
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
 * Remembers what is known of records that consumers cannot be told of yet. The event that completes such a record shows
 * only what it changed, and a look at the record would tell what it is by now instead of what it was then.
 */
@Injectable()
export class IncompleteIdentities {
  constructor(
    @InjectModel(INCOMPLETE_IDENTITY_MODEL) private readonly incomplete: Model<IncompleteIdentity>,
  ) {}

  private get collection(): mongo.Collection<IncompleteIdentity> {
    return this.incomplete.collection as unknown as mongo.Collection<IncompleteIdentity>;
  }

  /** Those of these records that are incomplete, by the hex of their `_id`: of each what was learned last, in a share by it. */
  async among(
    kind: Kind,
    owners: mongo.ObjectId[],
    share: AppShare = ALL,
  ): Promise<Map<string, PartialIdentity>> {
    if (owners.length === 0) return new Map();
    const found = await this.collection.find(ofRecords(kind, owners, share)).toArray();
    found.sort((one, other) => ((one.learned ?? '') < (other.learned ?? '') ? -1 : 1));
    return new Map(found.map(({ _id, ...known }) => [_id.owner.toHexString(), known]));
  }

  /** Those of these `id`s that have rivals: answered by the index alone. */
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

  /** How many rivals there are, up to 10,000. */
  countRivals(kind: Kind): Promise<number> {
    return this.collection.countDocuments({ '_id.kind': kind, ...RIVAL }, { limit: MOST_COUNTED });
  }

  /**
   * Remembers what is known of each, and then forgets what was known of it in other applications of the share. What was learned later in the log
   * stays: a term that was given up may write what it knew long after another one has learned more. Where such knowledge is there the
   * upsert runs into the `_id`.
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

  /** Remembers whole identities of records, by the hex of their `_id`, that other records are known under. */
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

  /** Forgets records that are known as a whole, or gone, as of a place in the log. What was learned later stays. */
  async forget(kind: Kind, owners: mongo.ObjectId[], at: LogPlace, share: AppShare = ALL): Promise<void> {
    if (owners.length === 0) return;
    await this.collection.deleteMany({ ...ofRecords(kind, owners, share), learned: upTo(at) });
  }

  /** Forgets each of these records as of a place of its own. What was learned later of it stays. */
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

  /** Forgets exactly these, unless more was learned since. */
  async forgetThese(some: Pick<IncompleteIdentity, '_id' | 'learned'>[]): Promise<void> {
    if (some.length === 0) return;
    const writes = some.map(({ _id, learned = '' }) => ({
      deleteOne: { filter: { _id, learned: upTo(learned) } },
    }));
    await this.collection.bulkWrite(writes, { ordered: false });
  }

  /** The next stretch of records that are incomplete. */
  async nextStretch(
    kind: Kind,
    behind: mongo.ObjectId | undefined,
    most: number,
    share: AppShare = ALL,
  ): Promise<Found | undefined> {
    const stages = [
      { $match: { _id: ofStretch(kind, { behind, end: LAST_ID }), ...inShare(share, '_id.') } },
      { $sort: BY_ID },
      { $limit: most },
      { $group: { _id: null, count: { $sum: 1 }, end: { $max: '$_id.owner' } } },
    ];
    const [found] = await this.collection
      .aggregate<{ count: number; end: mongo.ObjectId }>(stages, { hint: BY_ID, maxTimeMS: STRETCH_MS })
      .toArray();
    return found && { behind, end: found.end, count: found.count };
  }

  /** The incomplete of a stretch, slice by slice. */
  inStretch(kind: Kind, stretch: Stretch, share: AppShare = ALL): AsyncGenerator<IncompleteIdentity[]> {
    const options = { hint: BY_ID, maxTimeMS: STRETCH_MS };
    const found = this.collection.find({ _id: ofStretch(kind, stretch), ...inShare(share, '_id.') }, options);
    return slicesOf(found, ({ id }) => id ?? '');
  }

  /**
   * Forgets what is known of the records of a stretch as of a place in the log, so that all of it can be learned anew.
   * Rivals stay: each may have to take the place of another record before its own turn comes.
   */
  async forgetPartials(kind: Kind, stretch: Stretch, at: LogPlace, share: AppShare): Promise<void> {
    const partials = { learned: upTo(at), $nor: [RIVAL] };
    const own = inShare(share, '_id.');
    await this.collection.deleteMany({ $and: [{ _id: ofStretch(kind, stretch), ...partials }, own] });
  }

  /** Forgets what was known of these records in other applications, unless it was learned later. */
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

/** All applications of the records of a stretch. */
function ofStretch(kind: Kind, { behind, end }: Stretch): mongo.Document {
  const last = new mongo.MaxKey();
  const first =
    behind === undefined
      ? { $gte: { kind, owner: FIRST_ID } }
      : { $gt: { kind, owner: behind, organizationid: last } };
  return { ...first, $lte: { kind, owner: end, organizationid: last } };
}
