import { type Connection, type Model, type mongo, Schema } from 'mongoose';
import { COMMAND_MS, type IndexFields } from '../platform/database/plain.js';
import {
  BUILT_IN_KINDS,
  describedKind,
  isBuiltIn,
  type Kind,
  type KindDocument,
  kindNames,
  KINDS,
  kindsIn,
  replaceKinds,
} from '../kinds/index.js';
import { BY_EMAIL_KEY, BY_RECORD_ID, BY_STAMP, type RecordDocument } from './record.js';
import { documentOf } from './read-for-json.js';
import { termsOf } from './records.js';
import { StoredTerms } from './stored-shape.js';

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
  const { collection, isPerson, hasChannelFeeds, document } = describedKind(kind);
  const terms = termsOf(kind);
  const storedFields = (fields: IndexFields) => terms?.keys(fields) ?? fields;
  const schema = new Schema<RecordDocument>({}, { collection, strict: false, versionKey: false });
  if (isPerson) schema.static({ settleDuplicates });
  if (terms !== undefined) schema.static({ storedFields });
  if (!isBuiltIn(kind)) schema.static({ isOptional: () => true, madeFor: () => document });
  // Another program may have an index of its own under the name that MongoDB would give to this one.
  const named = (fields: IndexFields) =>
    isBuiltIn(kind) ? {} : { name: `${OWN_INDEX}${Object.keys(fields).join('_')}` };
  for (const { fields, options } of indexesOf(terms)) schema.index(fields, { ...named(fields), ...options });
  if (isPerson) schema.index(BY_EMAIL_KEY, { unique: true, partialFilterExpression: isText('emailkey') });
  // Serves the check whether any record of the application has a given channel.
  if (hasChannelFeeds) schema.index({ organizationid: 1, appid: 1, channels: 1 });
  return schema;
}

/** An index of the records of every kind. */
interface RecordIndex {
  fields: IndexFields;
  options: Pick<mongo.CreateIndexesOptions, 'unique' | 'partialFilterExpression'>;
}

function indexesOf(terms: StoredTerms | undefined): RecordIndex[] {
  const storedFields = (fields: IndexFields) => terms?.keys(fields) ?? fields;
  const alongIds = storedFields({ organizationid: 1, appid: 1, _id: 1 });
  const [id = 'id'] = Object.keys(storedFields({ id: 1 }));
  return [
    // Every collection has an index over `_id` alone.
    ...(Object.keys(alongIds).length > 1 ? [{ fields: alongIds, options: {} }] : []),
    { fields: storedFields(BY_STAMP), options: {} },
    {
      fields: storedFields(BY_RECORD_ID),
      options: { unique: true, partialFilterExpression: isText(id) },
    },
  ];
}

/** The indexes of a valid kind that need not be served yet. */
export function indexesOfKind(kind: KindDocument): RecordIndex[] {
  const stored = kindsIn([kind]).get(kind.name)?.stored;
  return indexesOf(stored && new StoredTerms(stored));
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

/** The models of the built-in kinds. */
export const recordModels = BUILT_IN_KINDS.map((kind) => ({ name: modelOf(kind), schema: schemaOf(kind) }));

/** The beginning of the names of the service's indexes in collections that other programs designed. */
export const OWN_INDEX = 'tidemark_';

/** Maximum number of kinds that an operator can create. Each has indexes, and a step in each pass. */
export const MOST_KINDS = 50;

/**
 * Reads the kinds of the database (contract §8), and gives the connection their models. Returns whether any kind has
 * changed.
 */
export async function readKinds(connection: Connection): Promise<boolean> {
  const stored = await connection
    .getClient()
    .db(connection.name)
    .collection(KINDS)
    .find(
      {},
      { sort: { _id: 1 }, limit: MOST_KINDS, maxTimeMS: COMMAND_MS, comment: 'tidemark kinds', raw: true },
    )
    .toArray();
  const isChanged = replaceKinds(kindsIn(stored.map((one) => documentOf(one))));
  keepRecordModels(connection);
  return isChanged;
}

/** Gives a connection the models of all kinds, and removes those of kinds that no longer exist. */
function keepRecordModels(connection: Connection): void {
  const wanted = new Set(kindNames().map(modelOf));
  const isRemoved = (name: string) => name.startsWith(modelOf('')) && !wanted.has(name);
  for (const name of Object.keys(connection.models).filter(isRemoved)) connection.deleteModel(name);
  for (const kind of kindNames().filter((one) => !isBuiltIn(one))) {
    const name = modelOf(kind);
    const present = connection.models[name] as { madeFor?: () => string | undefined } | undefined;
    if (present?.madeFor?.() === describedKind(kind).document) continue;
    if (present !== undefined) connection.deleteModel(name);
    connection.model(name, schemaOf(kind));
  }
}
