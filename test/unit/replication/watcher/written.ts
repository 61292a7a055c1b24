import { mongo } from 'mongoose';
import type { StoredIdentity, WatchedEvent } from '../../../../src/replication/watcher/events.js';

type Written = Extract<WatchedEvent, { type: 'written' }>;

/** The cluster time of the n-th operation of a test. */
export const at = (n: number) => new mongo.Timestamp({ t: 1_700_000_000, i: n });

export const TENANT = { organizationid: 'acme', appid: 'shop' };

/** An insert or a replacement of a product. */
export function whole(n: number, owner: unknown, identity: StoredIdentity, channels: string[] = []): Written {
  return { type: 'written', at: at(n), kind: 'product', owner, identity, whole: true, channels };
}

/** An update of a product that shows only what was changed. */
export function changed(
  n: number,
  owner: unknown,
  identity: StoredIdentity,
  channels: string[] = [],
): Written {
  return { ...whole(n, owner, identity, channels), whole: false };
}

export function deleted(n: number, owner: unknown): WatchedEvent {
  return { type: 'deleted', at: at(n), kind: 'product', owner };
}
