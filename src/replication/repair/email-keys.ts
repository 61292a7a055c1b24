import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { Model, mongo } from 'mongoose';
import { literal } from '../../common/index.js';
import { alongIndexIfAny } from '../../database/index.js';
import { MEMBER_MODEL } from '../../member/index.js';
import { Metrics } from '../../observability/index.js';
import { BY_EMAIL_KEY, type RecordDocument } from '../../record/index.js';
import { EmailDuplicates } from './email-duplicates.js';
import { EMAIL_TEXT } from './present-record.js';
import { type RecordWrite, RecordWrites } from './record-writes.js';

/** Expressions: a projection by names may end at the second of two fields with the same name. */
const KEY_FIELDS = { organizationid: '$organizationid', appid: '$appid', emailkey: '$emailkey' };

/** The key that a member should have for the e-mail it was seen with; `null` for none. */
export interface WantedKey {
  _id: mongo.ObjectId;
  organizationid: string;
  appid: string;
  /** What it was seen with; `null` or `false` where that was no text that can be a key. */
  email: string | null | false;
  emailkey: string | null;
  /** Whether it has another key, which goes even where it cannot have this one. */
  hasOther: boolean;
}

/**
 * Keeps `emailkey` in step with `data.email` (contract §2). A member that comes second stays as it is and is noted as
 * a duplicate; it gets its key when the first one gives it up. Who has a key is asked for once for all members that want
 * it, so that many members with one e-mail cost what as many with different ones do.
 */
@Injectable()
export class EmailKeys {
  constructor(
    @InjectModel(MEMBER_MODEL) private readonly members: Model<RecordDocument>,
    private readonly duplicates: EmailDuplicates,
    private readonly writes: RecordWrites,
    private readonly metrics: Metrics,
  ) {}

  /** The driver's view of the members. */
  private get collection(): mongo.Collection {
    return this.members.collection;
  }

  /**
   * Sets the keys, each only where the e-mail still is the one that was seen. Who cannot have it has none, and is noted
   * and answered.
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

  /** Who has which of the wanted keys; the first of the members that want a free one is to have it. */
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
    const { duplicates, setAside } = await this.writes.write('member', 'emailkey', wanted.map(keyWrite));
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
