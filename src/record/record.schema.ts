import { type Model, type mongo, Schema } from 'mongoose';
import { describedKind, type Kind, KINDS } from '../kinds/index.js';
import { BY_EMAIL_KEY, BY_STAMP, type RecordDocument } from './record.js';

const isText = (field: string) => ({ [field]: { $type: 'string' } });

/** Name of the Mongoose model of a kind: no model of the service's own collections has such a name. */
export function modelOf(kind: Kind): string {
  return `Record of ${kind}`;
}

/**
 * Other programs write these collections too, so documents are taken as they come. The first two indexes serve the feeds
 * (design §4). The third keeps `id` unique where it is a text.
 */
function schemaOf(kind: Kind): Schema<RecordDocument> {
  const { collection, isPerson, hasChannelFeeds } = describedKind(kind);
  const statics = isPerson && { statics: { settleDuplicates } };
  const schema = new Schema<RecordDocument>({}, { collection, strict: false, versionKey: false, ...statics })
    .index({ organizationid: 1, appid: 1, _id: 1 })
    .index(BY_STAMP)
    .index({ organizationid: 1, appid: 1, id: 1 }, { unique: true, partialFilterExpression: isText('id') });
  if (isPerson) schema.index(BY_EMAIL_KEY, { unique: true, partialFilterExpression: isText('emailkey') });
  // Finds out whether any record of the application has a channel.
  if (hasChannelFeeds) schema.index({ organizationid: 1, appid: 1, channels: 1 });
  return schema;
}

/**
 * `emailkey` is the service's own field. While its index was missing, as after a drop, several records may have got the same
 * value: the first keeps it, and the others lose theirs.
 */
async function settleDuplicates(this: Model<RecordDocument>, keys: string[]): Promise<boolean> {
  if (!keys.includes('emailkey')) return false;
  const groups = this.collection.aggregate<{ records: mongo.ObjectId[] }>(
    [
      { $match: isText('emailkey') },
      { $sort: { _id: 1 } },
      { $group: { _id: keys.map((key) => `$${key}`), records: { $push: '$_id' } } },
      { $match: { 'records.1': { $exists: true } } },
    ],
    { allowDiskUse: true },
  );
  for await (const { records } of groups)
    await this.collection.updateMany({ _id: { $in: records.slice(1) } }, { $unset: { emailkey: '' } });
  return true;
}

/** The models of all kinds. */
export const recordModels = KINDS.map((kind) => ({ name: modelOf(kind), schema: schemaOf(kind) }));
