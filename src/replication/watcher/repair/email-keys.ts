import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import { type Model, mongo } from 'mongoose';
import { literal } from '../../../platform/common/index.js';
import { refusedAsDuplicate, alongIndexIfAny } from '../../../platform/database/index.js';
import {
  EMAIL_DUPLICATE_MODEL,
  EMAIL_HOLDER_MODEL,
  type EmailDuplicate,
  type EmailHolder,
  type EmailKey,
  type StoredHolder,
} from '../collections.schema.js';
import { Metrics } from '../../../platform/observability/index.js';
import { BY_EMAIL_KEY, type RecordDocument, modelOf } from '../../../record/index.js';
import { PERSON_KIND } from '../../../kinds/index.js';
import { EMAIL_TEXT } from './present-record.js';
import { type RecordWrite, RecordWrites } from './record-writes.js';

/** Stores which members wait for a key, and which members have it. */
@Injectable()
export class EmailDuplicates {
  constructor(
    @InjectModel(EMAIL_DUPLICATE_MODEL) private readonly waiting: Model<EmailDuplicate>,
    @InjectModel(EMAIL_HOLDER_MODEL) private readonly holders: Model<StoredHolder>,
  ) {}

  /** Stores duplicates, each with the member that has its key, if that is known. */
  async note(noted: { duplicate: EmailHolder; holder: mongo.ObjectId | undefined }[]): Promise<void> {
    if (noted.length === 0) return;
    const held = noted.flatMap(({ duplicate, holder }) => (holder ? [{ ...duplicate, _id: holder }] : []));
    if (held.length > 0) await this.holders.collection.bulkWrite(held.map(asWanted));
    await this.wait(noted.map(({ duplicate }) => duplicate));
  }

  /**
   * Stores members that wait. Most of them wait for the first time, so they are inserted, which costs a fraction of an
   * upsert. Members that already wait are marked as noted again.
   */
  private async wait(members: EmailHolder[]): Promise<void> {
    const { collection } = this.waiting;
    const noted = new mongo.ObjectId();
    const duplicates = members.map((one): EmailDuplicate => ({ ...one, noted }));
    const known = await this.among(duplicates.map(({ _id }) => _id));
    const before = new Map(known.map((one) => [String(one._id), one]));
    const fresh = duplicates.filter(({ _id }) => !before.has(String(_id)));
    const other = duplicates.filter((one) => before.has(String(one._id)));
    const refused = await this.insert(fresh);
    const changed = [...other, ...fresh.filter((_one, index) => refused.has(index))];
    if (changed.length > 0) await collection.bulkWrite(changed.map(asUpsert), { ordered: false });
  }

  /** Returns the indexes of the documents that an earlier term has inserted meanwhile. */
  private async insert(duplicates: EmailDuplicate[]): Promise<Set<number>> {
    if (duplicates.length === 0) return new Set();
    return this.waiting.collection
      .insertMany(duplicates, { ordered: false })
      .then(() => new Set(), refusedAsDuplicate);
  }

  /** Stores that this member has a key that others want. */
  async hold(holder: EmailHolder): Promise<void> {
    await this.holders.collection.bulkWrite([asWanted(holder)]);
  }

  /** Returns those of these members that are noted as duplicates. */
  async among(members: mongo.ObjectId[]): Promise<EmailDuplicate[]> {
    return this.waiting.collection.find<EmailDuplicate>({ _id: { $in: members } }).toArray();
  }

  /** The keys of these members that other members want. */
  async wantedOf(members: mongo.ObjectId[]): Promise<EmailHolder[]> {
    const found = await this.holders.collection.find<StoredHolder>({ _id: { $in: members } }).toArray();
    return found.flatMap(({ _id, wanted = [], ...only }) => {
      const keys = isKey(only) ? [...wanted, only] : wanted;
      return keys.map((key) => ({ _id, ...key }));
    });
  }

  /** The first member that waits for a key. */
  async next({ organizationid, appid, emailkey }: EmailHolder): Promise<EmailDuplicate | null> {
    const key = { organizationid, appid, emailkey };
    return this.waiting.collection.findOne<EmailDuplicate>(key, { sort: { _id: 1 } });
  }

  /** Duplicates in the order of their `_id`, after a given one. */
  async behind(behind: mongo.ObjectId, limit: number): Promise<EmailDuplicate[]> {
    return this.waiting.collection
      .find<EmailDuplicate>({ _id: { $gt: behind } }, { limit, sort: { _id: 1 } })
      .toArray();
  }

  /**
   * Removes members that no longer wait, unless they were noted again since they were read: an abandoned term may write
   * late.
   */
  async settle(waiting: EmailDuplicate[]): Promise<void> {
    if (waiting.length === 0) return;
    await this.waiting.collection.bulkWrite(
      waiting.map(({ _id, noted }) => ({
        deleteOne: { filter: { _id, noted: noted ?? { $exists: false } } },
      })),
      { ordered: false },
    );
  }

  /** Removes keys that these members no longer have, unless they were noted again since they were read. */
  async release(freed: EmailHolder[]): Promise<void> {
    if (freed.length > 0) await this.holders.collection.bulkWrite(freed.flatMap(asFreed));
  }
}

function isKey(key: Partial<EmailKey>): key is EmailKey {
  return key.emailkey !== undefined;
}

function asWanted({ _id, ...held }: EmailHolder): mongo.AnyBulkWriteOperation {
  const key = bare(held);
  const isOther = Object.entries(key).map(([name, value]) => ({ $ne: [`$$this.${name}`, literal(value)] }));
  const others = { $filter: { input: { $ifNull: ['$wanted', []] }, cond: { $or: isOther } } };
  const wanted = { $concatArrays: [others, [literal({ ...key, noted: new mongo.ObjectId() })]] };
  return { updateOne: { filter: { _id }, update: [{ $set: { wanted } }], upsert: true } };
}

function asFreed({ _id, noted, ...held }: EmailHolder): mongo.AnyBulkWriteOperation[] {
  const key = bare(held);
  const wanted = { ...key, noted: noted ?? { $exists: false } };
  const none = { organizationid: '', appid: '', emailkey: '' };
  const isEmpty = { emailkey: { $exists: false }, 'wanted.0': { $exists: false } };
  return [
    { updateOne: { filter: { _id }, update: { $pull: { wanted } } as mongo.Document } },
    { updateOne: { filter: { _id, ...key }, update: { $unset: none } } },
    { deleteOne: { filter: { _id, ...isEmpty } } },
  ];
}

function bare({ organizationid, appid, emailkey }: EmailKey): EmailKey {
  return { organizationid, appid, emailkey };
}

function asUpsert({ _id, ...known }: EmailDuplicate): mongo.AnyBulkWriteOperation {
  return { updateOne: { filter: { _id }, update: { $set: known }, upsert: true } };
}

/** Expressions, because a projection by names may stop at the second of two fields with the same name. */
const KEY_FIELDS = { organizationid: '$organizationid', appid: '$appid', emailkey: '$emailkey' };

/** The key that a member should have for the e-mail that was read; `null` for none. */
export interface WantedKey {
  _id: mongo.ObjectId;
  organizationid: string;
  appid: string;
  /** The e-mail that was read; `null` or `false` if it was not a text that can be a key. */
  email: string | null | false;
  emailkey: string | null;
  /** Whether the member has another key now, which is removed even if the member cannot get `emailkey`. */
  hasOther: boolean;
}

/**
 * Keeps `emailkey` in step with `data.email` (contract §2). A second member with the same e-mail gets no key and is noted as
 * a duplicate. It gets the key when the first member releases it. The holders of all wanted keys are read together, so
 * that many members with one e-mail cost no more than members with different ones.
 */
@Injectable()
export class EmailKeys {
  constructor(
    @InjectModel(modelOf(PERSON_KIND)) private readonly members: Model<RecordDocument>,
    private readonly duplicates: EmailDuplicates,
    private readonly writes: RecordWrites,
    private readonly metrics: Metrics,
  ) {}

  /** The driver's view of the members. */
  private get collection(): mongo.Collection {
    return this.members.collection;
  }

  /**
   * Sets the keys, each only if the e-mail is still the one that was read. A member whose key is taken gets none, is
   * noted as a duplicate, and is returned.
   */
  async set(wanted: WantedKey[]): Promise<mongo.ObjectId[]> {
    if (wanted.length === 0) return [];
    const holders = await this.holders(wanted);
    const first = wanted.filter((one) => one.emailkey === null || isFree(one, holders));
    const refused = await this.write(first);
    const tried = new Set(first);
    const second = [...wanted.filter((one) => !tried.has(one)), ...refused];
    await this.write(second.filter(({ hasOther }) => hasOther).map((one) => ({ ...one, emailkey: null })));
    if (refused.length > 0) for (const [key, _id] of await this.holders(refused)) holders.set(key, _id);
    await this.duplicates.note(
      second.map(({ _id, organizationid, appid, emailkey }) => {
        const duplicate = { _id, organizationid, appid, emailkey: emailkey! };
        return { duplicate, holder: holders.get(keyOf(duplicate)) };
      }),
    );
    return second.map(({ _id }) => _id);
  }

  /** Returns the holder of each wanted key. A free key is assigned to the first of the members that want it. */
  private async holders(wanted: WantedKey[]): Promise<Map<string, mongo.ObjectId>> {
    const keyed = wanted.filter(({ emailkey }) => emailkey !== null);
    if (keyed.length === 0) return new Map();
    const among = (field: keyof WantedKey) => ({ $in: [...new Set(keyed.map((one) => one[field]))] });
    const query = {
      organizationid: among('organizationid'),
      appid: among('appid'),
      emailkey: { ...among('emailkey'), $type: 'string' as const },
    };
    const found = await alongIndexIfAny(this.collection, BY_EMAIL_KEY, (along) =>
      this.collection.find<WantedKey>(query, { projection: KEY_FIELDS, ...along }).toArray(),
    );
    const holders = new Map(found.map((one) => [keyOf(one), one._id]));
    for (const one of keyed) if (!holders.has(keyOf(one))) holders.set(keyOf(one), one._id);
    return holders;
  }

  /** Writes the keys and returns those that another member has already. */
  private async write(wanted: WantedKey[]): Promise<WantedKey[]> {
    const { duplicates, setAside } = await this.writes.write(PERSON_KIND, 'emailkey', wanted.map(keyWrite));
    this.metrics.repaired.inc({ what: 'emailkey' }, wanted.length - duplicates.size - setAside.size);
    return wanted.filter((_one, index) => duplicates.has(index));
  }
}

function isFree(one: WantedKey, holders: Map<string, mongo.ObjectId>): boolean {
  return String(holders.get(keyOf(one))) === String(one._id);
}

function keyWrite({ _id, email, emailkey }: WantedKey): RecordWrite {
  const asSeen = { $eq: [EMAIL_TEXT, literal(email)] };
  const update = emailkey === null ? { $unset: { emailkey: '' } } : { $set: { emailkey } };
  return { updateOne: { filter: { _id, $expr: asSeen }, update } };
}

function keyOf({
  organizationid,
  appid,
  emailkey,
}: Pick<WantedKey, 'organizationid' | 'appid' | 'emailkey'>) {
  return JSON.stringify([organizationid, appid, emailkey]);
}
