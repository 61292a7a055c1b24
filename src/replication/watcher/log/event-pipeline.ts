import type { mongo } from 'mongoose';
import { SERVICES } from '../../../application/index.js';
import {
  COLLECTION_OF,
  EARLIEST,
  hasMoreTexts,
  idAt,
  IDENTITY,
  identityTextsAt,
  isShortText,
  KINDS,
  textAt,
  textsAt,
  isObjectId,
  isUnreadable,
  type Kind,
} from '../../../record/index.js';
import { LEDGER, MARKS, LEASES } from '../../store/index.js';
import {
  type StoredIdentity,
  fenceIn,
  type MarkKey,
  markKey,
  placeOf,
  type At,
  type TombstoneEvent,
  type WatchedEvent,
  type WrittenEvent,
} from '../../protocol/index.js';

const KIND_OF = new Map(KINDS.map((kind) => [COLLECTION_OF[kind], kind]));
const RECORDS = [...KIND_OF.keys()];
const LOST = ['drop', 'rename', 'dropDatabase', 'invalidate'];
/** An event holds the `_id` several times, in hex too (bytes of BSON). */
const LARGEST_KEY = 1_000_000;
const LATEST = new Date('9999-12-31T23:59:59.999Z');

/** A date that JavaScript can hold; `null` where there is nothing, `false` where there is something else. */
const stampAt = (path: string) => ({
  $switch: {
    branches: [
      { case: { $eq: [{ $type: path }, 'missing'] }, then: null },
      {
        case: {
          $and: [{ $eq: [{ $type: path }, 'date'] }, { $gte: [path, EARLIEST] }, { $lte: [path, LATEST] }],
        },
        then: path,
      },
    ],
    default: false,
  },
});

/** Single places of the list, such as `channels.2`; a list that was set as a whole stands under `channels`. */
const CHANNELS_PLACED = {
  $filter: {
    input: { $objectToArray: '$updateDescription.updatedFields' },
    cond: { $and: [{ $eq: [{ $indexOfBytes: ['$$this.k', 'channels.'] }, 0] }, isShortText('$$this.v')] },
  },
};

const CHANGED = {
  $map: { input: { $objectToArray: { $ifNull: ['$updateDescription.updatedFields', {}] } }, in: '$$this.k' },
};
const REMOVED = { $ifNull: ['$updateDescription.removedFields', []] };
const TRUNCATED = { $ifNull: ['$updateDescription.truncatedArrays', []] };
const isA = (operationType: string) => ({ $eq: ['$operationType', operationType] });

/** Whether an update changed this field and nothing else. */
const isOnly = (field: string) => ({
  $and: [
    isA('update'),
    { $eq: [{ $size: TRUNCATED }, 0] },
    { $setIsSubset: [{ $concatArrays: [CHANGED, REMOVED] }, [field]] },
  ],
});

/** The fields of a product in which the watcher repairs what other programs left out. */
const LOOKED_AFTER = [...IDENTITY, 'channels'];
const PATHS = { $concatArrays: [CHANGED, REMOVED, { $map: { input: TRUNCATED, in: '$$this.field' } }] };
const ROOTS = { $map: { input: PATHS, in: { $arrayElemAt: [{ $split: ['$$this', '.'] }, 0] } } };

/**
 * Whether an event shows all that is looked after in a product, but for its texts and its stamp: an insert whose channels are all
 * learned, or an update of other fields.
 */
const IS_SHOWN = {
  $cond: [
    isA('insert'),
    { $not: [hasMoreTexts('$fullDocument.channels')] },
    { $and: [isA('update'), { $eq: [{ $size: { $setIntersection: [ROOTS, LOOKED_AFTER] } }, 0] }] },
  ],
};

const isOf = (...names: string[]) => ({ $in: ['$ns.coll', names] });
const isSet = (path: string) => ({ $ne: [{ $type: path }, 'missing'] });

/**
 * Whether an event concerns anybody here. A value of its own, since MongoDB looks for the conditions of a plain `$match` in
 * each entry of the log, those of other databases too, which then cost four times as much.
 */
const concerns = (memory: string[]) => ({
  $or: [
    { $and: [isOf(...RECORDS), { $lt: [{ $bsonSize: '$documentKey' }, LARGEST_KEY] }] },
    isOf(MARKS, SERVICES),
    { $and: [isOf(LEDGER), { $eq: ['$fullDocument.alive', false] }] },
    { $and: [isOf(LEDGER), isSet('$updateDescription.updatedFields.lastupdated')] },
    { $and: [isOf(LEASES), isSet('$updateDescription.updatedFields.expires')] },
    { $and: [isOf(...RECORDS, ...memory), { $in: ['$operationType', LOST] }] },
    { $in: ['$to.coll', [...RECORDS, ...memory, SERVICES]] },
    { $in: ['$operationType', ['dropDatabase', 'invalidate']] },
  ],
});

/**
 * The stages behind `$changeStream`: records, tombstones, marks, services and what became of collections, and of their
 * events only a few bytes. Renewals of the lease concern nobody, but bring the stream a token every few seconds.
 * Records with a huge `_id` stay out: nobody is ever told of them, and their events would be larger than MongoDB can send.
 *
 * `memory` names the collections without which the watcher's own memory has a gap: their loss is like a lost history.
 */
export function eventPipeline(memory: string[]): mongo.Document[] {
  const followed = new Set([...RECORDS, ...memory, MARKS, LEDGER, SERVICES, LEASES]);
  return [
    { $match: { $or: [...[...followed].map(isIn), ...LOST.map(hasType)] } },
    { $set: { concerns: concerns(memory) } },
    { $match: { concerns: true } },
    { $project: SHOWN },
  ];
}

/** MongoDB can pass over the rest of the log by names alone, without making events of it. */
const isIn = (name: string) => ({ 'ns.coll': name });
const hasType = (operationType: string) => ({ operationType });

/** The few bytes of an event that anybody here needs. */
const SHOWN = {
  operationType: 1,
  clusterTime: 1,
  'ns.coll': 1,
  owner: idAt('$documentKey._id'),
  mark: { $cond: [{ $eq: ['$ns.coll', MARKS] }, '$documentKey._id', '$$REMOVE'] },
  announced: textAt('$fullDocument.announced'),
  raised: textAt('$updateDescription.updatedFields.announced'),
  stored: { ...identityTextsAt('$fullDocument.'), stamp: stampAt('$fullDocument.lastupdated') },
  changed: {
    ...identityTextsAt('$updateDescription.updatedFields.'),
    stamp: stampAt('$updateDescription.updatedFields.lastupdated'),
  },
  isKeyOnly: isOnly('emailkey'),
  isStampOnly: isOnly('lastupdated'),
  isShown: { $and: [isOf(COLLECTION_OF.product), IS_SHOWN] },
  channels: {
    $concatArrays: [textsAt('$fullDocument.channels'), textsAt('$updateDescription.updatedFields.channels')],
  },
  placed: CHANNELS_PLACED,
  removed: { $setIntersection: ['$updateDescription.removedFields', [...IDENTITY, 'lastupdated']] },
};

/** Parses one event of EVENT_PIPELINE; undefined for irrelevant ones, such as new indexes. */
export function watchedEvent(raw: mongo.Document): WatchedEvent | undefined {
  const what = String(raw['operationType']);
  const collection = (raw['ns'] as { coll?: string } | undefined)?.coll ?? '';
  if (LOST.includes(what))
    return collection === SERVICES
      ? { type: 'services', ...whenOf(raw) }
      : { type: 'collectionLost', ...whenOf(raw), what, collection };
  if (!['insert', 'replace', 'update', 'delete'].includes(what)) return undefined;
  const kind = KIND_OF.get(collection);
  if (kind !== undefined) {
    return what === 'delete'
      ? { type: 'deleted', ...whenOf(raw), kind, owner: raw['owner'] }
      : written(raw, kind, what !== 'update');
  }
  if (collection === SERVICES) {
    const id: unknown = raw['owner'];
    return { type: 'services', ...whenOf(raw), ...(isObjectId(id) && { id }) };
  }
  if (collection === MARKS) return announced(raw);
  return collection === LEDGER ? tombstoneSeen(raw) : undefined;
}

function whenOf(raw: mongo.Document): At {
  return { at: raw['clusterTime'] as mongo.Timestamp, place: placeOf(raw['_id'] as { _data: string }) };
}

function written(raw: mongo.Document, kind: Kind, whole: boolean): WrittenEvent {
  const identity = whole ? told(raw['stored']) : changedIdentity(raw);
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

/** Whether each of the three names is a text that can be read, as it is stored. */
function isReadable({ isNumber, ...names }: StoredIdentity): boolean {
  const isText = (name: unknown) => typeof name === 'string' && !isUnreadable(name);
  return isNumber === undefined && IDENTITY.every((field) => isText(names[field]));
}

function announced(raw: mongo.Document): WatchedEvent | undefined {
  const fence = fenceIn(raw['announced']) ?? fenceIn(raw['raised']);
  return fence && { type: 'announced', ...whenOf(raw), mark: markKey(raw['mark'] as MarkKey), fence };
}

function tombstoneSeen(raw: mongo.Document): TombstoneEvent {
  const { stamp } = stampIn(raw, raw['operationType'] !== 'update');
  return { type: 'tombstone', ...whenOf(raw), entry: raw['owner'] as mongo.ObjectId, stamp: stamp ?? null };
}

/** A whole record that shows no stamp has none; a change that shows none left it alone, unless it removed it. */
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
  return { ...told(raw['changed']), ...Object.fromEntries(removed.map((field) => [field, false])) };
}

/** What the event tells of the identity; `null` stands for what it does not. */
function told(projected: unknown): StoredIdentity {
  const stored = (projected ?? {}) as Record<string, string | boolean | null>;
  const fields = [...IDENTITY, 'isNumber'].map((field) => [field, stored[field] ?? null] as const);
  return Object.fromEntries(fields.filter(([, value]) => value !== null));
}
