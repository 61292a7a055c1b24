import type { mongo } from 'mongoose';
import { SERVICES } from '../../../application/index.js';
import {
  createdKindOf,
  kindOfCollection,
  KINDS,
  type Kind,
  recordCollections,
} from '../../../kinds/index.js';
import { IDENTITY, isObjectId, isUnreadable } from '../../../record/index.js';
import { fieldsOfEvent, inTermsOfContract } from './event-fields.js';
import { HASH_KEYS, LEDGER, MARKS, LEASES } from '../../store/index.js';
import {
  type StoredIdentity,
  fenceIn,
  type MarkKey,
  markKey,
  placeOf,
  type At,
  type ServicesEvent,
  type TombstoneEvent,
  type WatchedEvent,
  type WrittenEvent,
} from '../../protocol/index.js';

const LOST = ['drop', 'rename', 'dropDatabase', 'invalidate'];
/** Limit in bytes of BSON: an event contains the `_id` several times, also in hex. */
const LARGEST_KEY = 1_000_000;

const isOf = (...names: string[]) => ({ $in: ['$ns.coll', names] });
const isSet = (path: string) => ({ $ne: [{ $type: path }, 'missing'] });

/**
 * Whether the watcher needs an event. This is a computed field because MongoDB tests the conditions of a plain `$match` on
 * every log entry, including those of other databases, which would cost four times as much.
 */
const concerns = (records: string[], memory: string[]) => ({
  $or: [
    { $and: [isOf(...records), { $lt: [{ $bsonSize: '$documentKey' }, LARGEST_KEY] }] },
    isOf(MARKS, SERVICES, HASH_KEYS, KINDS),
    { $and: [isOf(LEDGER), { $eq: ['$fullDocument.alive', false] }] },
    { $and: [isOf(LEDGER), isSet('$updateDescription.updatedFields.lastupdated')] },
    { $and: [isOf(LEASES), isSet('$updateDescription.updatedFields.expires')] },
    { $and: [isOf(...records, ...memory), { $in: ['$operationType', LOST] }] },
    { $in: ['$to.coll', [...records, ...memory, SERVICES, HASH_KEYS, KINDS]] },
    { $in: ['$operationType', ['dropDatabase', 'invalidate']] },
  ],
});

/**
 * The stages after `$changeStream`. They select the events of records, tombstones, marks, services, hash keys, kinds
 * and lost collections, and keep only a few bytes of each event. Renewals of the lease carry no data, but give the
 * stream a new token every few seconds. Records with a huge `_id` are excluded: they are never delivered, and their
 * events would be larger than MongoDB can send.
 *
 * `memory` names the collections that hold the watcher's own memory. The loss of one is treated as lost history.
 */
export function eventPipeline(memory: string[]): mongo.Document[] {
  const records = recordCollections();
  const followed = new Set([...records, ...memory, MARKS, LEDGER, SERVICES, HASH_KEYS, KINDS, LEASES]);
  return [
    { $match: { $or: [...[...followed].map(isIn), ...LOST.map(hasType)] } },
    { $set: { concerns: concerns(records, memory) } },
    { $match: { concerns: true } },
    ...inTermsOfContract(),
    { $replaceWith: fieldsOfEvent() },
  ];
}

/** Lets MongoDB skip the rest of the log by name, before it builds events. */
const isIn = (name: string) => ({ 'ns.coll': name });
const hasType = (operationType: string) => ({ operationType });

/** Parses one event of the pipeline; undefined for irrelevant ones, such as new indexes. */
export function watchedEvent(raw: mongo.Document): WatchedEvent | undefined {
  const what = String(raw['operationType']);
  const collection = (raw['ns'] as { coll?: string } | undefined)?.coll ?? '';
  if (LOST.includes(what))
    return collection === SERVICES || collection === HASH_KEYS || collection === KINDS
      ? { type: 'services', ...whenOf(raw) }
      : { type: 'collectionLost', ...whenOf(raw), what, collection: lostIn(raw, collection) };
  if (!['insert', 'replace', 'update', 'delete'].includes(what)) return undefined;
  const kind = kindOfCollection(collection);
  if (kind !== undefined) {
    return what === 'delete'
      ? { type: 'deleted', ...whenOf(raw), kind, owner: raw['owner'] }
      : written(raw, kind, what !== 'update');
  }
  if (collection === SERVICES) {
    const id: unknown = raw['owner'];
    return { type: 'services', ...whenOf(raw), ...(isObjectId(id) && { id }) };
  }
  // A deleted key changes nothing yet: filter versions keep their copy of it until a service needs a new key.
  if (collection === HASH_KEYS)
    return what === 'delete' ? undefined : { type: 'services', ...whenOf(raw), ...applicationIn(raw) };
  // A change of the kinds also changes which services are valid.
  if (collection === KINDS) return { type: 'services', ...whenOf(raw) };
  if (collection === MARKS) return announced(raw);
  return collection === LEDGER ? tombstoneSeen(raw) : undefined;
}

/** The collection that is lost: that of the event, or the one of a created kind that a rename or `$out` replaces. */
function lostIn(raw: mongo.Document, collection: string): string {
  const target = (raw['to'] as { coll?: string } | undefined)?.coll ?? '';
  const isOwn = collection.startsWith('tidemark.') || recordCollections().includes(collection);
  return !isOwn && createdKindOf(target) !== undefined ? target : collection;
}

function whenOf(raw: mongo.Document): At {
  return { at: raw['clusterTime'] as mongo.Timestamp, place: placeOf(raw['_id'] as { _data: string }) };
}

function written(raw: mongo.Document, kind: Kind, whole: boolean): WrittenEvent {
  const identity = whole ? statedIn(raw['stored']) : changedIdentity(raw);
  const stamp = stampIn(raw, whole);
  const isInOrder =
    raw['isShown'] === true && stamp.stamp instanceof Date && (!whole || isReadable(identity));
  return {
    type: 'written',
    ...whenOf(raw),
    kind,
    owner: raw['owner'],
    identity,
    whole,
    ...stamp,
    ...(isInOrder && { isInOrder }),
    ...(raw['operationType'] === 'insert' && { isNew: true }),
    isKeyOnly: raw['isKeyOnly'] === true,
    isStampOnly: raw['isStampOnly'] === true,
    channels: channelsIn(raw),
  };
}

/** Whether each field of the identity is stored as a readable string. */
function isReadable({ isNumber, ...names }: StoredIdentity): boolean {
  const isText = (name: unknown) => typeof name === 'string' && !isUnreadable(name);
  return isNumber === undefined && IDENTITY.every((field) => isText(names[field]));
}

/** The application that a whole document names. */
function applicationIn(raw: mongo.Document): Pick<ServicesEvent, 'application'> {
  const { organizationid, appid } = statedIn(raw['stored']);
  if (typeof organizationid !== 'string' || typeof appid !== 'string') return {};
  return { application: { organizationid, appid } };
}

function announced(raw: mongo.Document): WatchedEvent | undefined {
  const fence = fenceIn(raw['announced']) ?? fenceIn(raw['raised']);
  return fence && { type: 'announced', ...whenOf(raw), mark: markKey(raw['mark'] as MarkKey), fence };
}

function tombstoneSeen(raw: mongo.Document): TombstoneEvent {
  const { stamp } = stampIn(raw, raw['operationType'] !== 'update');
  return { type: 'tombstone', ...whenOf(raw), entry: raw['owner'] as mongo.ObjectId, stamp: stamp ?? null };
}

/**
 * The stamp that the event shows: `null` if a whole record has no valid stamp, or if an update wrote an invalid one or
 * removed the stamp; absent if an update left the stamp unchanged.
 */
function stampIn(raw: mongo.Document, whole: boolean): { stamp?: Date | null } {
  const shown = (raw[whole ? 'stored' : 'changed'] as { stamp?: Date | null | false } | undefined)?.stamp;
  if (shown instanceof Date) return { stamp: shown };
  const isLeft = !whole && shown !== false && !removedIn(raw).includes('lastupdated');
  return isLeft ? {} : { stamp: null };
}

function channelsIn(raw: mongo.Document): string[] {
  const placed = ((raw['placed'] ?? []) as { v: string }[]).map(({ v }) => v);
  return [...((raw['channels'] ?? []) as string[]), ...placed];
}

function removedIn(raw: mongo.Document): string[] {
  return (raw['removed'] ?? []) as string[];
}

function changedIdentity(raw: mongo.Document): StoredIdentity {
  const removed = removedIn(raw).filter((field) => field !== 'lastupdated');
  return { ...statedIn(raw['changed']), ...Object.fromEntries(removed.map((field) => [field, false])) };
}

/** The identity fields that the event contains. In the projection, `null` marks a field that it does not contain. */
function statedIn(projected: unknown): StoredIdentity {
  const stored = (projected ?? {}) as Record<string, string | boolean | null>;
  const fields = [...IDENTITY, 'isNumber'].map((field) => [field, stored[field] ?? null] as const);
  return Object.fromEntries(fields.filter(([, value]) => value !== null));
}
