import mongoose, { Schema, type mongo } from 'mongoose';
import type { FieldChange } from './merge.js';
import type { ServiceKey } from '../../application/plain.js';
import type { Tenant } from '../../record/index.js';
import { isDuplicateKey } from '../../platform/database/plain.js';

/** A change of a schema, with the version that the schema has since then. */
export interface ToldChange extends FieldChange {
  version: number;
  at: Date;
}

/** The version of a service that a schema describes. The schema names only fields that this version shows. */
export interface OfVersion {
  /** The document of its kind, as the description of the kind has it; null for a built-in kind. */
  kind: string | null;
  /** The document of `tidemark.filterversions`; null for `default` without one. */
  entry: mongo.ObjectId | null;
  version: number;
}

/**
 * The position of the walk through the records of an application and kind, for a service with too many records to read
 * all of them.
 */
export interface Walk {
  /** The last `_id`; null at the beginning of a round. */
  behind: mongo.ObjectId | null;
  round: number;
  /** Records of the application from one place of the walk to the next, on average. */
  stride: number;
  /** The number of places visited in this round so far. */
  places: number;
}

/**
 * A document of `tidemark.schemas`: what samples of the items of a service have shown. When the service is edited or a
 * record is erased, only the key, the version and a new token remain: everything else could name a field that is hidden
 * now, or that only the erased record had.
 */
export interface StoredSchema extends ServiceKey {
  /** Grows by one with every change of the schema; 0 before the first sample. */
  version: number;
  /** A new value with each write. A sample is stored only if nothing was written since it began. */
  token: mongo.ObjectId;
  of?: OfVersion;
  /** When the last sample was taken, by the clock of the instance. */
  at?: Date;
  /** The head of the application and kind before that sample; null if there was none. */
  head?: Date | null;
  /** Whether all records of the service were read. */
  isWhole?: boolean;
  /** What was seen, as text. */
  seen?: string;
  walk?: Walk;
  changes?: ToldChange[];
}

export const SCHEMAS = 'tidemark.schemas';

const storedSchema = new Schema<StoredSchema>(
  {},
  { collection: SCHEMAS, strict: false, versionKey: false },
).index({ organizationid: 1, appid: 1, kind: 1, name: 1 }, { unique: true });

export const schemaModels = [{ name: 'StoredSchema', schema: storedSchema }];

/** A document without anything that names a field. */
type Bare = ServiceKey & Pick<StoredSchema, 'version' | 'token'>;

/** What is stored of the items of a service. Other programs may have written anything. */
export function readStored(db: mongo.Db, key: ServiceKey): Promise<StoredSchema | null> {
  return schemasOf(db).findOne<StoredSchema>(keyOf(key), { projection: { _id: 0 } });
}

/** Like {@link readStored}, before a sample. Creates the document if there is none. */
export async function beginStored(db: mongo.Db, key: ServiceKey): Promise<StoredSchema> {
  const stored = await readStored(db, key);
  if (stored !== null) return stored;
  const made = { ...keyOf(key), version: 0, token: newToken() };
  try {
    await schemasOf(db).insertOne({ ...made });
    return made;
  } catch (error) {
    const other = isDuplicateKey(error) ? await readStored(db, key) : null;
    if (other === null) throw error;
    return other;
  }
}

/** Returns what was stored; undefined if something else was written since `before` was read. */
export async function replaceStored(
  db: mongo.Db,
  before: StoredSchema,
  after: Omit<StoredSchema, 'token'>,
): Promise<StoredSchema | undefined> {
  const unchanged = { ...keyOf(before), token: before.token ?? { $exists: false } };
  const stored = { ...after, token: newToken() };
  const { matchedCount } = await schemasOf(db).replaceOne(unchanged, stored);
  return matchedCount === 1 ? stored : undefined;
}

/**
 * The last change of the schema of each service, by {@link schemaName}. It may name a field that an edit has just
 * hidden, so it is shown only to administrators.
 */
export async function lastChanges(db: mongo.Db, keys: ServiceKey[]): Promise<Map<string, ToldChange>> {
  if (keys.length === 0) return new Map();
  const projection = { _id: 0, organizationid: 1, appid: 1, kind: 1, name: 1, changes: { $slice: 1 } };
  const found = await schemasOf(db)
    .find({ $or: [...new Map(keys.map((key) => [schemaName(key), keyOf(key)])).values()] }, { projection })
    .toArray();
  return new Map(
    found.flatMap(({ changes, ...key }) => {
      const [last] = Array.isArray(changes) ? changes : [];
      return last?.at instanceof Date ? [[schemaName(key), last]] : [];
    }),
  );
}

export function schemaName({ organizationid, appid, kind, name }: ServiceKey): string {
  return JSON.stringify([organizationid, appid, kind, name]);
}

/** Removes everything that names a field. Returns what is left; undefined if something else was written meanwhile. */
export async function removeNames(db: mongo.Db, stored: StoredSchema): Promise<StoredSchema | undefined> {
  const { version } = stored;
  return stored.of === undefined && stored.seen === undefined
    ? stored
    : replaceStored(db, stored, { ...keyOf(stored), version });
}

/**
 * Like {@link removeNames}, for all services of an application and kind, because a record is erased: it may have been
 * the only one with some field. A sample that is already running is then not stored.
 */
export function forgetNames(
  db: mongo.Db,
  { organizationid, appid, kind }: Omit<ServiceKey, 'name'>,
): Promise<void> {
  return leaveBare(db, { organizationid, appid, kind });
}

/**
 * Like {@link forgetNames}, for kinds that no longer exist. Versions are kept: a kind that is created again continues
 * them.
 */
export function forgetKindsBut(db: mongo.Db, kinds: readonly string[]): Promise<void> {
  return leaveBare(db, { kind: { $nin: [...kinds] }, of: { $exists: true } });
}

async function leaveBare(db: mongo.Db, which: mongo.Filter<StoredSchema>): Promise<void> {
  const left: { [field in keyof Bare]: unknown } = {
    ...{ organizationid: '$organizationid', appid: '$appid', kind: '$kind', name: '$name' },
    ...{ version: '$version', token: newToken() },
  };
  await schemasOf(db).updateMany(which, [{ $replaceWith: { _id: '$_id', ...left } }]);
}

/** Removes the schemas of an application that is removed. */
export async function removeSchemas(
  db: mongo.Db,
  { organizationid, appid }: Tenant,
  session?: mongo.ClientSession,
): Promise<void> {
  await schemasOf(db).deleteMany({ organizationid, appid }, { ...(session && { session }) });
}

function keyOf({ organizationid, appid, kind, name }: ServiceKey): ServiceKey {
  return { organizationid, appid, kind, name };
}

function newToken(): mongo.ObjectId {
  return new mongoose.mongo.ObjectId();
}

function schemasOf(db: mongo.Db): mongo.Collection<StoredSchema> {
  return db.collection<StoredSchema>(SCHEMAS);
}
