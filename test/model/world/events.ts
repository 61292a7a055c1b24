import type { StoredIdentity } from '../../../src/replication/protocol/identity.js';
import type { DeletedEvent, WatchedEvent, WrittenEvent } from '../../../src/replication/protocol/events.js';
import { KIND, ORGANIZATION, type ModelRecord } from './documents.js';

/** Where in the log something happens. */
export type When = Pick<WatchedEvent, 'at' | 'place'>;

const QUIET = { isKeyOnly: false, isStampOnly: false, channels: [] };

/** A record written as a whole: everything is told. */
export function insertion(record: ModelRecord, when: When): WrittenEvent {
  const identity = { organizationid: ORGANIZATION, appid: record.appid, ...toldId(record) };
  const stamp = record.lastupdated ?? null;
  return { type: 'written', ...when, kind: KIND, owner: record._id, whole: true, identity, stamp, ...QUIET };
}

/** A record changed in single fields: only those are told. Nothing where none has changed. */
export function update(before: ModelRecord, after: ModelRecord, when: When): WrittenEvent | undefined {
  const identity: StoredIdentity = {};
  if (before.appid !== after.appid) identity.appid = after.appid;
  if (before.id !== after.id || before.isNumber !== after.isNumber) Object.assign(identity, toldId(after));
  const isStamped = before.lastupdated?.getTime() !== after.lastupdated?.getTime();
  const isMoved = Object.keys(identity).length > 0;
  const isChanged = before.text !== after.text || before.color !== after.color;
  if (!isStamped && !isMoved && !isChanged) return undefined;
  const stamp = isStamped ? { stamp: after.lastupdated ?? null } : {};
  const isStampOnly = !isMoved && !isChanged;
  const shown = { type: 'written', ...when, kind: KIND, owner: before._id, whole: false, identity } as const;
  return { ...shown, ...stamp, ...QUIET, isStampOnly };
}

/** The `id` as events and reads tell it. */
export function toldId({ id, isNumber }: ModelRecord): Pick<StoredIdentity, 'id' | 'isNumber'> {
  return { id, ...(isNumber && { isNumber }) };
}

export function deletion(record: ModelRecord, when: When): DeletedEvent {
  return { type: 'deleted', ...when, kind: KIND, owner: record._id };
}
