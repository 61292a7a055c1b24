import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import { type Model, type mongo, Schema } from 'mongoose';
import { FIRST_ID, type Kind } from '../../record/index.js';
import type { Stretch } from './stretch.js';

/** What is known of the identity of a record: texts where they are texts. */
export type PartialIdentity = Partial<Record<'organizationid' | 'appid' | 'id', string>>;

/** A record that has no ledger entry, since its organization, application or `id` is no text. */
export interface Stray extends PartialIdentity {
  _id: { kind: Kind; owner: mongo.ObjectId };
}

/** Name of the Mongoose model of `strays`. */
export const STRAY_MODEL = 'Stray';

export const straySchema = new Schema<Stray>(
  { _id: Object },
  { collection: 'strays', strict: false, versionKey: false },
);

/**
 * Remembers what is known of records that consumers cannot be told of yet. The event that completes such a record shows
 * only what it changed, and a look at the record would tell what it is by now instead of what it was then.
 */
@Injectable()
export class Strays {
  constructor(@InjectModel(STRAY_MODEL) private readonly strays: Model<Stray>) {}

  private get collection(): mongo.Collection<Stray> {
    return this.strays.collection as unknown as mongo.Collection<Stray>;
  }

  /** Those of these records that are strays, by the hex of their `_id`. */
  async among(kind: Kind, owners: mongo.ObjectId[]): Promise<Map<string, PartialIdentity>> {
    if (owners.length === 0) return new Map();
    const found = await this.collection
      .find({ _id: { $in: owners.map((owner) => ({ kind, owner })) } })
      .toArray();
    return new Map(found.map(({ _id, ...known }) => [_id.owner.toHexString(), known]));
  }

  /** Remembers what is known of each; `null` for one that is no stray any more. */
  async keep(kind: Kind, known: { owner: mongo.ObjectId; partial: PartialIdentity | null }[]): Promise<void> {
    if (known.length === 0) return;
    await this.collection.bulkWrite(
      known.map(({ owner, partial }) =>
        partial === null
          ? { deleteOne: { filter: { _id: { kind, owner } } } }
          : { replaceOne: { filter: { _id: { kind, owner } }, replacement: partial, upsert: true } },
      ),
      { ordered: false },
    );
  }

  /** Forgets what is known of the records of a stretch, so that all of it can be learned anew. */
  async forgetAll(kind: Kind, { behind, end }: Stretch): Promise<void> {
    const first =
      behind === undefined ? { $gte: { kind, owner: FIRST_ID } } : { $gt: { kind, owner: behind } };
    await this.collection.deleteMany({ _id: { ...first, $lte: { kind, owner: end } } });
  }
}
