import type { mongo } from 'mongoose';
import { SERVICES } from '../../application/index.js';
import { IDENTITY, isObjectId, isUnreadable, type Kind } from '../../record/index.js';
import { LEDGER, type StoredIdentity } from '../ledger/index.js';
import { fenceIn, type MarkKey, markKey, MARKS } from '../mark/index.js';
import { placeOf } from '../progress/index.js';
import { KIND_OF, LOST } from './event-pipeline.js';
import type { At, TombstoneEvent, WatchedEvent, WrittenEvent } from './watched-event.js';

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
