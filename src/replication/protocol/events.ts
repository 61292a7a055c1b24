import type { mongo } from 'mongoose';
import type { Kind } from '../../kinds/index.js';
import type { Tenant } from '../../record/pure.js';
import type { StoredIdentity } from './identity.js';
import type { MarkKey } from './marks.js';
import type { LogPlace } from './place.js';

/** When an event happened. */
export interface At {
  /** The cluster time, which all events of a transaction share. */
  at: mongo.Timestamp;
  /** The event's place in the log. It also orders the events of one transaction. */
  place: LogPlace;
}

/** A record that was written: the whole record, or only its changed fields. */
export interface WrittenEvent extends At {
  type: 'written';
  kind: Kind;
  owner: unknown;
  identity: StoredIdentity;
  whole: boolean;
  /** The new stamp: `null` if it is missing or not a date; absent if the change did not write it. */
  stamp?: Date | null;
  isNew?: true;
  /** Only `emailkey` was changed, which does not count as a change for consumers. */
  isKeyOnly: boolean;
  /** Only the stamp was changed, so nothing else needs checking. */
  isStampOnly: boolean;
  /** The event shows that nothing in the record needs repair, so the record need not be read. */
  isInOrder?: true;
  /** The channels that the change wrote. */
  channels: string[];
}

export interface DeletedEvent extends At {
  type: 'deleted';
  kind: Kind;
  owner: unknown;
}

/** A ledger entry became a tombstone, or the stamp of a tombstone was changed. */
export interface TombstoneEvent extends At {
  type: 'tombstone';
  entry: mongo.ObjectId;
  stamp: Date | null;
}

/** A mark was raised. */
export interface AnnouncedEvent extends At {
  type: 'announced';
  mark: MarkKey;
  fence: Date;
}

/**
 * A document of `services` or the key of an application's hashes was written or removed. If both `id` and `application`
 * are absent, any number of these documents may have changed, or a kind.
 */
export interface ServicesEvent extends At {
  type: 'services';
  id?: mongo.ObjectId;
  application?: Tenant;
}

/** The part of a change stream event that the watcher uses. */
export type WatchedEvent =
  | WrittenEvent
  | DeletedEvent
  | TombstoneEvent
  | AnnouncedEvent
  | ServicesEvent
  | (At & { type: 'collectionLost'; what: string; collection: string });

export function isWritten(event: { type: string }): event is WrittenEvent {
  return event.type === 'written';
}
