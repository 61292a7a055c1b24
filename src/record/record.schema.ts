import { type Model, type mongo, Schema } from 'mongoose';
import { describedKind, type Kind, KINDS, type OwnIndex } from '../kinds/index.js';
import type { RecordDocument } from './record.js';

const isText = (field: string) => ({ [field]: { $type: 'string' } });

/** Name of the Mongoose model of a kind. */
export function modelOf(kind: Kind): string {
  return `${kind[0]!.toUpperCase()}${kind.slice(1)}`;
}

/**
 * Other programs write these collections too, so documents are taken as they come. The first two indexes carry the feeds
 * (design §4); the third keeps `id` unique where it is a text.
 */
function schemaOf(kind: Kind): Schema<RecordDocument> {
  const { collection, indexes } = describedKind(kind);
  const settleDuplicates = settling(indexes);
  const statics = settleDuplicates && { statics: { settleDuplicates } };
  const schema = new Schema<RecordDocument>({}, { collection, strict: false, versionKey: false, ...statics })
    .index({ organizationid: 1, appid: 1, _id: 1 })
    .index({ organizationid: 1, appid: 1, lastupdated: 1, _id: 1 })
    .index({ organizationid: 1, appid: 1, id: 1 }, { unique: true, partialFilterExpression: isText('id') });
  for (const { fields, uniqueText } of indexes)
    schema.index(
      { ...fields },
      uniqueText === undefined ? {} : { unique: true, partialFilterExpression: isText(uniqueText) },
    );
  return schema;
}

/** Keeps the first of several records with one value in a field of the service's own; the others lose theirs. */
function settling(indexes: readonly OwnIndex[]) {
  const fields = indexes.flatMap(({ uniqueText }) => uniqueText ?? []);
  if (fields.length === 0) return undefined;
  return async function settleDuplicates(this: Model<RecordDocument>, keys: string[]): Promise<boolean> {
    const field = fields.find((one) => keys.includes(one));
    if (field === undefined) return false;
    const groups = this.collection.aggregate<{ records: mongo.ObjectId[] }>(
      [
        { $match: isText(field) },
        { $sort: { _id: 1 } },
        { $group: { _id: keys.map((key) => `$${key}`), records: { $push: '$_id' } } },
        { $match: { 'records.1': { $exists: true } } },
      ],
      { allowDiskUse: true },
    );
    for await (const { records } of groups)
      await this.collection.updateMany({ _id: { $in: records.slice(1) } }, { $unset: { [field]: '' } });
    return true;
  };
}

/** The models of all kinds. */
export const recordModels = KINDS.map((kind) => ({ name: modelOf(kind), schema: schemaOf(kind) }));
