import type { mongo } from 'mongoose';
import { COLLECTION_OF, idAt, type Kind, KINDS, textAt, textsAt } from '../../record/index.js';

/**
 * The three fields that say what a record is to consumers: texts, or `false` where one is something else. Where the
 * event does not tell, nothing.
 */
export type StoredIdentity = Partial<Record<(typeof IDENTITY)[number], string | false>>;

const IDENTITY = ['organizationid', 'appid', 'id'] as const;

/** A record as an event shows it: as a whole, or only what was changed. */
interface Written {
  type: 'written';
  kind: Kind;
  owner: unknown;
  identity: StoredIdentity;
  whole: boolean;
  /** The channels that it got. */
  channels: string[];
}

/** What the watcher needs of a change stream event. `at` is its cluster time. */
export type WatchedEvent = { at: mongo.Timestamp } & (
  Written | { type: 'deleted'; kind: Kind; owner: unknown } | { type: 'upheaval'; what: string }
);

const KIND_OF = new Map(KINDS.map((kind) => [COLLECTION_OF[kind], kind]));
const COLLECTIONS = [...KIND_OF.keys()];

const identityAt = (path: string) =>
  Object.fromEntries(IDENTITY.map((field) => [field, textAt(`$${path}.${field}`)]));

/** Single places of the list, such as `channels.2`; a list that was set as a whole stands under `channels`. */
const CHANNELS_PLACED = {
  $filter: {
    input: { $objectToArray: '$updateDescription.updatedFields' },
    cond: {
      $and: [
        { $eq: [{ $indexOfBytes: ['$$this.k', 'channels.'] }, 0] },
        { $eq: [{ $type: '$$this.v' }, 'string'] },
      ],
    },
  },
};

/** The stages behind `$changeStream`: only the collections of records, and of their events only a few bytes. */
export const EVENT_PIPELINE: mongo.Document[] = [
  {
    $match: {
      $or: [
        { 'ns.coll': { $in: COLLECTIONS } },
        { 'to.coll': { $in: COLLECTIONS } },
        { operationType: { $in: ['dropDatabase', 'invalidate'] } },
      ],
    },
  },
  {
    $project: {
      operationType: 1,
      clusterTime: 1,
      'ns.coll': 1,
      owner: idAt('$documentKey._id'),
      stored: identityAt('fullDocument'),
      changed: identityAt('updateDescription.updatedFields'),
      channels: {
        $concatArrays: [
          textsAt('$fullDocument.channels'),
          textsAt('$updateDescription.updatedFields.channels'),
        ],
      },
      placed: CHANNELS_PLACED,
      removed: { $setIntersection: ['$updateDescription.removedFields', IDENTITY] },
    },
  },
];

/** Reads one event of {@link EVENT_PIPELINE}; nothing for those that concern no record, such as new indexes. */
export function watchedEvent(raw: mongo.Document): WatchedEvent | undefined {
  const at = raw['clusterTime'] as mongo.Timestamp;
  const kind = KIND_OF.get((raw['ns'] as { coll?: string } | undefined)?.coll ?? '');
  switch (raw['operationType']) {
    case 'insert':
    case 'replace':
      return kind && { ...written(raw, kind), at, identity: told(raw['stored']), whole: true };
    case 'update':
      return kind && { ...written(raw, kind), at, identity: changedIdentity(raw), whole: false };
    case 'delete':
      return kind && { type: 'deleted', at, kind, owner: ownerIn(raw) };
    case 'drop':
    case 'rename':
    case 'dropDatabase':
    case 'invalidate':
      return { type: 'upheaval', at, what: String(raw['operationType']) };
    default:
      return undefined;
  }
}

function written(raw: mongo.Document, kind: Kind): Pick<Written, 'type' | 'kind' | 'owner' | 'channels'> {
  return { type: 'written', kind, owner: ownerIn(raw), channels: channelsIn(raw) };
}

function ownerIn(raw: mongo.Document): unknown {
  return raw['owner'];
}

function channelsIn(raw: mongo.Document): string[] {
  const placed = ((raw['placed'] ?? []) as { v: string }[]).map(({ v }) => v);
  return [...((raw['channels'] ?? []) as string[]), ...placed];
}

function changedIdentity(raw: mongo.Document): StoredIdentity {
  const removed = (raw['removed'] ?? []) as string[];
  return { ...told(raw['changed']), ...Object.fromEntries(removed.map((field) => [field, false])) };
}

/** What the event tells of the identity; `null` stands for what it does not. */
function told(projected: unknown): StoredIdentity {
  const fields = Object.entries((projected ?? {}) as Record<string, string | false | null>);
  return Object.fromEntries(fields.filter(([, value]) => value !== null));
}
