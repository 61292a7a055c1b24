import type { mongo } from 'mongoose';
import type { Kind } from '../../record/pure.js';
import type { StoredIdentity } from './identity.js';
import type { MarkKey } from './marks.js';
import type { LogPlace } from './place.js';

/** When it happened. */
export interface At {
  /** The cluster time, which all events of a transaction share. */
  at: mongo.Timestamp;
  /** Where it stands among all of them. */
  place: LogPlace;
}

/** A record as an event shows it: as a whole, or only what was changed. */
export interface WrittenEvent extends At {
  type: 'written';
  kind: Kind;
  owner: unknown;
  identity: StoredIdentity;
  whole: boolean;
  /** The stamp it got: `null` where that is missing or no date; absent where the change left it alone. */
  stamp?: Date | null;
  isNew?: true;
  /** Nothing but `emailkey` was changed, which is no change to consumers. */
  isKeyOnly: boolean;
  /** Nothing but the stamp was changed: there is nothing else to look after. */
  isStampOnly: boolean;
  /** The event shows that the record lacks nothing, so that it need not be read. */
  isInOrder?: true;
  /** The channels that it got. */
  channels: string[];
}

export interface DeletedEvent extends At {
  type: 'deleted';
  kind: Kind;
  owner: unknown;
}

/** A ledger entry has become a tombstone, or its stamp was changed. */
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

/** A document of `services` was written or removed; without `id` it may be any, or several. */
interface ServicesEvent extends At {
  type: 'services';
  id?: mongo.ObjectId;
}

/** What the watcher needs of a change stream event. */
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
