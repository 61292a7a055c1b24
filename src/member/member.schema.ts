import { type Model, type mongo, Schema } from 'mongoose';
import type { RecordDocument } from '../record/index.js';

/** Name of the Mongoose model of `members`. */
export const MEMBER_MODEL = 'Member';

/**
 * Other programs write this collection too, so documents are taken as they come. The first two indexes carry the
 * feeds (design §4); the unique ones keep `id` and e-mail unique where they are texts.
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

/** The models of the room. */
export const memberModels = [{ name: MEMBER_MODEL, schema: memberSchema }];

/**
 * `emailkey` is the service's own field. While its index was away, as after a drop, several members may have got the same
 * one: the first keeps it, the others lose theirs, as if they had come second.
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
