import { type Model, type mongo, Schema } from 'mongoose';
import type { RecordDocument } from '../record/index.js';

/** Name of the Mongoose model of `members`. */
export const MEMBER_MODEL = 'Member';

/**
 * Other programs write this collection too, so documents are not validated. The first two indexes serve the feeds
 * (design §4); the unique ones keep `id` and e-mail unique if they are texts.
 */
const memberSchema = new Schema<RecordDocument>(
  {},
  { collection: 'members', strict: false, versionKey: false, statics: { settleDuplicates } },
)
  .index({ organizationid: 1, appid: 1, _id: 1 })
  .index({ organizationid: 1, appid: 1, lastupdated: 1, _id: 1 })
  .index(
    { organizationid: 1, appid: 1, id: 1 },
    { unique: true, partialFilterExpression: { id: { $type: 'string' } } },
  )
  .index(
    { organizationid: 1, appid: 1, emailkey: 1 },
    { unique: true, partialFilterExpression: { emailkey: { $type: 'string' } } },
  );

/** The models of this module. */
export const memberModels = [{ name: MEMBER_MODEL, schema: memberSchema }];

/**
 * Removes duplicates of `emailkey`, the service's own field. While its index is missing, for example after a drop,
 * several members may receive the same key. The first member keeps it and the others lose it, as if they had been
 * written second.
 */
async function settleDuplicates(this: Model<RecordDocument>, keys: string[]): Promise<boolean> {
  if (!keys.includes('emailkey')) return false;
  const groups = this.collection.aggregate<{ members: mongo.ObjectId[] }>(
    [
      { $match: { emailkey: { $type: 'string' } } },
      { $sort: { _id: 1 } },
      { $group: { _id: keys.map((key) => `$${key}`), members: { $push: '$_id' } } },
      { $match: { 'members.1': { $exists: true } } },
    ],
    { allowDiskUse: true },
  );
  for await (const { members } of groups)
    await this.collection.updateMany({ _id: { $in: members.slice(1) } }, { $unset: { emailkey: '' } });
  return true;
}
