import mongoose, { type mongo } from 'mongoose';
import { DEFAULT_SERVICE, type Filter, type ServiceKey, SERVICES } from '../../application/plain.js';
import { exactly } from '../../platform/common/index.js';
import { ofTenant } from '../../record/index.js';
import type { FilterVersion } from '../protocol/index.js';
import { areReadable, fieldsAt, FILTER_VERSIONS, filterAt } from '../store/plain.js';
import { type FieldMask, fieldMask, itemsText } from '../transcode/index.js';
import { describedKind, isKind } from '../../kinds/index.js';
import { type Frame, type Examples, itemSchema, type JsonSchema } from './json-schema.js';
import { type OfVersion, type StoredSchema, type ToldChange, readStored } from './stored-schemas.js';
import { type SeenItems, seenIn } from './seen.js';

/** A service with the filter and the fields that are in force. */
export interface ServedService {
  key: ServiceKey;
  of: OfVersion;
  filter: Filter;
  /** Undefined if items are shown whole. */
  mask: FieldMask | undefined;
}

const READ = { state: 1, version: 1, filter: filterAt('$filter'), fields: fieldsAt('$fields') };

/**
 * The service as it is in the database now. The cache of an instance is not used, because a schema of an older version
 * may name a field that is hidden by now. Undefined if it is not served.
 */
export async function servedVersion(
  db: mongo.Db,
  { organizationid, appid, kind, name }: ServiceKey,
): Promise<ServedService | undefined> {
  if (!isKind(kind)) return undefined;
  const key = { organizationid, appid, kind, name };
  const ofKind = describedKind(kind).document ?? null;
  const entries = db.collection<FilterVersion>(FILTER_VERSIONS);
  const entry = await entries.findOne(key, { projection: READ });
  if (entry === null) return name === DEFAULT_SERVICE ? defaultWithout(db, key, ofKind) : undefined;
  const { _id, state, version, filter, fields } = entry;
  if (state !== 'on' || filter === undefined || !areReadable(fields)) return undefined;
  const mask = fields && fieldMask(fields, fields.key?.buffer);
  return { key, of: { kind: ofKind, entry: _id, version }, filter, mask };
}

/**
 * `default` without a document shows everything. If it has a document but no entry, the entry is not written yet, and
 * may hide fields.
 */
async function defaultWithout(
  db: mongo.Db,
  key: ServiceKey,
  ofKind: string | null,
): Promise<ServedService | undefined> {
  const which = { ...ofTenant(key), kind: exactly(key.kind), name: exactly(key.name) };
  const document = await db.collection(SERVICES).findOne(which, { projection: { _id: 1 } });
  return document === null
    ? { key, of: { kind: ofKind, entry: null, version: 0 }, filter: {}, mask: undefined }
    : undefined;
}

export function isSameVersion(one: OfVersion | undefined, other: OfVersion): boolean {
  if (one === undefined || one.version !== other.version || (one.kind ?? null) !== other.kind) return false;
  return one.entry === null ? other.entry === null : one.entry.equals(other.entry ?? undefined);
}

const { ObjectId, BSON } = mongoose.mongo;
/** A record without data, which shows the rest of an item. */
const BARE = BSON.serialize({
  0: {
    ...{ _id: new ObjectId('1'.repeat(24)), organizationid: '-', appid: '-', id: '-', type: '-' },
    ...{ createDate: new Date(0), createdBy: '-', lastupdated: new Date(0), data: {}, channels: ['-'] },
  },
});

/** Which members the items of a service have beside `data`. */
function frameOf({ key: { kind }, mask }: Pick<ServedService, 'key' | 'mask'>): Frame {
  const [items] = itemsIn(BARE, { kind, mask });
  const { createdBy, channels } = items![0] as { createdBy?: unknown; channels?: unknown };
  const { alwaysHasChannels, stored } = describedKind(kind);
  const hasNone = channels === undefined || stored?.hasChannels === false;
  return {
    createdBy: createdBy === undefined ? 'absent' : 'shown',
    channels: hasNone ? 'absent' : typeof channels === 'string' ? 'text' : 'list',
    alwaysHasChannels,
  };
}

/** An item with a longer text (bytes) is not parsed, so that the process is never busy with it for long. */
const LONGEST_ITEM = 1024 * 1024;

/**
 * The items of a BSON array of records, as `updates` of the service shows them, in portions; without the password hash that an
 * application may show. Undefined in place of a record that is too long.
 */
export function* itemsIn(
  documents: Uint8Array,
  { kind, mask }: Pick<ServedService, 'mask'> & Pick<ServiceKey, 'kind'>,
): Generator<unknown[] | undefined> {
  const shape = { item: 'update', kind, withPasswordHash: false, mask, asLines: true } as const;
  for (const { pieces, bytes, count } of itemsText(documents, shape)) {
    if (count === 1 && bytes > LONGEST_ITEM) yield undefined;
    else
      yield Buffer.concat([...pieces])
        .toString()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown);
  }
}

/** What is known of the items of a service, for the version of it that is in force. */
export interface CurrentSchema {
  served: ServedService;
  stored: StoredSchema;
  seen: SeenItems;
}

/**
 * Undefined if the service is not served; `missing` if there is no sample of the version in force, such as after an edit. A
 * sample of another version is never returned, because it may name a field that is hidden now.
 */
export async function knownSchema(
  db: mongo.Db,
  key: ServiceKey,
): Promise<CurrentSchema | 'missing' | undefined> {
  // In this order: if the service is edited in between, the version of the sample is the older one.
  const stored = await readStored(db, key);
  const served = await servedVersion(db, key);
  if (served === undefined) return undefined;
  if (stored === null || !isSameVersion(stored.of, served.of)) return 'missing';
  const seen = seenIn(stored.seen);
  return seen === undefined ? 'missing' : { served, stored, seen };
}

/** The JSON Schema of the items of a service, with its version and its last changes. */
export interface ServiceSchema extends JsonSchema {
  $schema: string;
  $id: string;
  title: string;
  /** Grows by one with every change of the schema. */
  'x-tidemark-version': number;
  /**
   * The number of records that the schema was derived from, and whether they are only a sample of the service's
   * records.
   */
  'x-tidemark-records': { count: number; sample: boolean };
  /** The last changes, newest first. */
  'x-tidemark-changes': ToldChange[];
}

/** The schema as the endpoint and the commands show it. */
export function serviceSchema({ served, stored, seen }: CurrentSchema, examples?: Examples): ServiceSchema {
  const { organizationid, appid, kind, name } = served.key;
  const { version, isWhole = false, changes = [] } = stored;
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: ['urn:tidemark:schema', organizationid, appid, kind, name, version].join(':'),
    title: `Items of the ${kind} service ${name}`,
    'x-tidemark-version': version,
    'x-tidemark-records': { count: Math.round(seen.records), sample: !isWhole },
    'x-tidemark-changes': changes,
    ...itemSchema(frameOf(served), seen, examples),
  };
}
