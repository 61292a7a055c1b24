import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { Model, mongo } from 'mongoose';
import { literal } from '../../common/index.js';
import { emailKeyOf, MEMBER_MODEL } from '../../member/index.js';
import type { RecordDocument } from '../../record/index.js';
import { EMAIL_DUPLICATE_MODEL, type EmailDuplicate } from './email-duplicates.js';
import { PRESENT } from './mending.js';
import { type RecordWrite, writeRecords } from './record-writes.js';

const AT_ONCE = 1000;

/** The key that a member should have for the e-mail it was seen with; `null` for none. */
export interface WantedKey {
  _id: mongo.ObjectId;
  organizationid: string;
  appid: string;
  /** What it was seen with; `null` or `false` where that was no text. */
  email: string | null | false;
  emailkey: string | null;
}

type SeenMember = Omit<WantedKey, 'emailkey'> & { emailkey: string | null | false };

/**
 * Keeps `emailkey` in step with `data.email` (contract §2). A member that comes second stays as it is and is noted as
 * a duplicate; it gets its key when the first one gives it up.
 */
@Injectable()
export class EmailKeys {
  private mayHaveDuplicates = true;

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

  /** Looks again at all duplicates: those that are none any more get their key and are forgotten. */
  async review(): Promise<void> {
    if (!this.mayHaveDuplicates) return;
    this.mayHaveDuplicates = false;
    for (let behind: mongo.ObjectId | undefined; ;) {
      const noted = await this.duplicates.collection
        .find<EmailDuplicate>(behind === undefined ? {} : { _id: { $gt: behind } }, {
          limit: AT_ONCE,
          sort: { _id: 1 },
        })
        .toArray();
      behind = noted.at(-1)?._id;
      if (behind === undefined) return;
      this.mayHaveDuplicates = true;
      await this.reviewSome(noted.map((duplicate) => duplicate._id));
    }
  }

  private async reviewSome(ids: mongo.ObjectId[]): Promise<void> {
    const members = await this.collection
      .aggregate<SeenMember>([{ $match: { _id: { $in: ids } } }, { $project: PRESENT }])
      .toArray();
    const wanted = members.flatMap((member) => {
      const emailkey = emailKeyOf(member.email) ?? null;
      return emailkey === null || emailkey === member.emailkey ? [] : [{ ...member, emailkey }];
    });
    const taken = await this.takenBy(wanted);
    const free = wanted.filter((one) => !taken.has(keyOf(one)));
    const second = [...(await this.write(free)), ...wanted.filter((one) => taken.has(keyOf(one)))];
    const unsettled = new Set(second.map(({ _id }) => _id.toHexString()));
    const settled = ids.filter((id) => !unsettled.has(id.toHexString()));
    if (settled.length > 0) await this.duplicates.collection.deleteMany({ _id: { $in: settled } });
  }

  /** Which of the wanted keys somebody has. */
  private async takenBy(wanted: WantedKey[]): Promise<Set<string>> {
    const among = (field: keyof WantedKey) => ({ $in: [...new Set(wanted.map((one) => one[field]))] });
    const holders = await this.collection
      .find<WantedKey>(
        {
          organizationid: among('organizationid'),
          appid: among('appid'),
          emailkey: { ...among('emailkey'), $type: 'string' },
        },
        { projection: { organizationid: 1, appid: 1, emailkey: 1 } },
      )
      .toArray();
    return new Set(holders.map(keyOf));
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
  const asSeen =
    typeof email === 'string'
      ? { $eq: ['$data.email', literal(email)] }
      : { $ne: [{ $type: '$data.email' }, 'string'] };
  const update = emailkey === null ? { $unset: { emailkey: '' } } : { $set: { emailkey } };
  return { updateOne: { filter: { _id, $expr: asSeen }, update } };
}

function keyOf({ organizationid, appid, emailkey }: WantedKey): string {
  return JSON.stringify([organizationid, appid, emailkey]);
}
