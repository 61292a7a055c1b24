import { mongo } from 'mongoose';
import type { WatchedEvent } from '../log/index.js';
import type { Concern } from './set-aside.schema.js';

/** What an event concerns. Undefined for an announcement, since another follows, and for records that are never delivered. */
export function concernOf(event: WatchedEvent): Concern | undefined {
  switch (event.type) {
    case 'written':
    case 'deleted':
      return event.owner instanceof mongo.ObjectId
        ? { what: 'record', kind: event.kind, owner: event.owner }
        : undefined;
    case 'tombstone':
      return { what: 'tombstone', owner: event.entry };
    case 'services':
      return { what: 'services' };
    case 'announced':
    case 'collectionLost':
      return undefined;
  }
}

/** For maps. */
export function concernKey(concern: Concern): string {
  return concern.what === 'services' ? 'services' : nameOf(concern);
}

/** For the log. */
export function nameOf(concern: Concern): string {
  if (concern.what === 'services') return 'the services';
  const what = concern.what === 'record' ? concern.kind : 'hard delete';
  return `${what} ${concern.owner.toHexString()}`;
}
