import type { mongo } from 'mongoose';
import { COLLECTION_OF, type Kind, KINDS } from '../../record/index.js';

/** The three fields that say what a record is to consumers; as stored, so of any type. */
export interface StoredIdentity {
  organizationid?: unknown;
  appid?: unknown;
  id?: unknown;
}

/** What the watcher needs of a change stream event. `at` is its cluster time. */
export type WatchedEvent = { at: mongo.Timestamp } & (
  | { type: 'written'; kind: Kind; owner: unknown; identity: StoredIdentity; whole: boolean }
  | { type: 'deleted'; kind: Kind; owner: unknown }
  | { type: 'upheaval'; what: string }
);

const KIND_OF = new Map(KINDS.map((kind) => [COLLECTION_OF[kind], kind]));
const COLLECTIONS = [...KIND_OF.keys()];

const of = (path: string) => ({
  organizationid: `$${path}.organizationid`,
  appid: `$${path}.appid`,
  id: `$${path}.id`,
});

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
      documentKey: 1,
      stored: of('fullDocument'),
      changed: of('updateDescription.updatedFields'),
      removed: { $setIntersection: ['$updateDescription.removedFields', ['organizationid', 'appid', 'id']] },
    },
  },
];

/** Reads one event of {@link EVENT_PIPELINE}; nothing for those that concern no record, such as new indexes. */
export function watchedEvent(raw: mongo.Document): WatchedEvent | undefined {
  const at = raw['clusterTime'] as mongo.Timestamp;
  const kind = KIND_OF.get((raw['ns'] as { coll?: string } | undefined)?.coll ?? '');
  const owner = (raw['documentKey'] as { _id: unknown } | undefined)?._id;
  switch (raw['operationType']) {
    case 'insert':
    case 'replace':
      return kind && { type: 'written', at, kind, owner, identity: identityIn(raw['stored']), whole: true };
    case 'update':
      return kind && { type: 'written', at, kind, owner, identity: changedIdentity(raw), whole: false };
    case 'delete':
      return kind && { type: 'deleted', at, kind, owner };
    case 'drop':
    case 'rename':
    case 'dropDatabase':
    case 'invalidate':
      return { type: 'upheaval', at, what: String(raw['operationType']) };
    default:
      return undefined;
  }
}

function changedIdentity(raw: mongo.Document): StoredIdentity {
  const removed = Array.isArray(raw['removed']) ? (raw['removed'] as string[]) : [];
  return { ...identityIn(raw['changed']), ...Object.fromEntries(removed.map((field) => [field, undefined])) };
}

function identityIn(projected: unknown): StoredIdentity {
  return { ...(projected as StoredIdentity | undefined) };
}
