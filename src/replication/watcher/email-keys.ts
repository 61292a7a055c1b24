import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { Model, mongo } from 'mongoose';
import { emailKeyOf, MEMBER_MODEL } from '../../member/index.js';
import type { RecordDocument } from '../../record/index.js';
import { EMAIL_DUPLICATE_MODEL, type EmailDuplicate } from './email-duplicates.js';
import { type RecordWrite, writeRecords } from './record-writes.js';

const AT_ONCE = 1000;
const TENANT = { organizationid: 1, appid: 1 };

/** The key that a member should have for the e-mail it was seen with; `null` for none. */
export interface WantedKey {
  _id: mongo.ObjectId;
  organizationid: string;
  appid: string;
  email: unknown;
  emailkey: string | null;
}

type SeenMember = Omit<WantedKey, 'emailkey'> & { emailkey?: unknown };

/**
 * Keeps `emailkey` in step with `data.email` (contract §2). A member that comes second stays as it is and is noted as
 * a duplicate; it gets its key when the first one gives it up.
 */
@Injectable()
export class EmailKeys {
  private mayHaveDuplicates = true;
  private reviewed: mongo.ObjectId | undefined;

  constructor(
    @InjectModel(MEMBER_MODEL) private readonly members: Model<RecordDocument>,
    @InjectModel(EMAIL_DUPLICATE_MODEL) private readonly duplicates: Model<EmailDuplicate>,
  ) {}

  /** The driver's view of the members: bulks whose errors tell which single writes were refused. */
  private get collection(): mongo.Collection {
    return this.members.collection;
  }

  /** Sets the keys, each only where the e-mail still is the one that was seen. Who cannot have it has none. */
  async set(wanted: WantedKey[]): Promise<void> {
    const second = await this.write(wanted);
    await this.write(second.map((one) => ({ ...one, emailkey: null })));
    await this.note(second);
  }

  /** Looks again at the duplicates: those that are none any more get their key and are forgotten. */
  async review(): Promise<void> {
    if (!this.mayHaveDuplicates) return;
    const noted = await this.nextDuplicates();
    const ids = noted.map((duplicate) => duplicate._id);
    const members = await this.collection
      .find<SeenMember>(
        { _id: { $in: ids } },
        { projection: { ...TENANT, email: '$data.email', emailkey: 1 } },
      )
      .toArray();
    const wanted = members.flatMap((member) => {
      const emailkey = emailKeyOf(member.email) ?? null;
      return emailkey === null || emailkey === member.emailkey ? [] : [{ ...member, emailkey }];
    });
    const second = new Set((await this.write(wanted)).map(({ _id }) => _id.toHexString()));
    const settled = ids.filter((id) => !second.has(id.toHexString()));
    if (settled.length > 0) await this.duplicates.collection.deleteMany({ _id: { $in: settled } });
  }

  /** A part of the duplicates at a time, round and round. */
  private async nextDuplicates(): Promise<{ _id: mongo.ObjectId }[]> {
    const behind = this.reviewed === undefined ? {} : { _id: { $gt: this.reviewed } };
    const noted = await this.duplicates.collection
      .find<{ _id: mongo.ObjectId }>(behind, { limit: AT_ONCE, sort: { _id: 1 }, projection: { _id: 1 } })
      .toArray();
    if (noted.length === 0 && this.reviewed === undefined) this.mayHaveDuplicates = false;
    this.reviewed = noted.length < AT_ONCE ? undefined : noted.at(-1)?._id;
    return noted;
  }

  /** Writes the keys and returns those that another member has already. */
  private async write(wanted: WantedKey[]): Promise<WantedKey[]> {
    const refused = await writeRecords(this.collection, wanted.map(keyWrite));
    return wanted.filter((_one, index) => refused.has(index));
  }

  private async note(second: WantedKey[]): Promise<void> {
    if (second.length === 0) return;
    this.mayHaveDuplicates = true;
    await this.duplicates.collection.bulkWrite(
      second.map(({ _id, organizationid, appid, emailkey }) => ({
        updateOne: { filter: { _id }, update: { $set: { organizationid, appid, emailkey } }, upsert: true },
      })),
      { ordered: false },
    );
  }
}

function keyWrite({ _id, email, emailkey }: WantedKey): RecordWrite {
  const filter = { _id, 'data.email': email === undefined ? { $exists: false } : { $eq: email } };
  const update = emailkey === null ? { $unset: { emailkey: '' } } : { $set: { emailkey } };
  return { updateOne: { filter, update } };
}
