import { mongo } from 'mongoose';
import type { StoredIdentity } from '../../../../src/replication/protocol/identity.js';
import type { Identity } from '../../../../src/replication/protocol/index.js';
import type {
  AnnouncedEvent,
  DeletedEvent,
  TombstoneEvent,
  WrittenEvent,
} from '../../../../src/replication/protocol/events.js';
import type { Knowledge } from '../../../../src/replication/protocol/learn.js';

/** Where in the log the n-th operation of a test is. */
export const placeAt = (n: number) => String(n).padStart(3, '0');

/** The cluster time of the n-th operation of a test. */
export const at = (n: number) => new mongo.Timestamp({ t: 1_700_000_000, i: n });

const when = (n: number) => ({ at: at(n), place: placeAt(n) });

export const TENANT = { organizationid: 'acme', appid: 'shop' };

/** An insert or a replacement of a product. */
export function whole(
  n: number,
  owner: unknown,
  identity: StoredIdentity,
  channels: string[] = [],
): WrittenEvent {
  const seen = { isKeyOnly: false, isStampOnly: false };
  return { type: 'written', ...when(n), kind: 'product', owner, identity, whole: true, channels, ...seen };
}

/** An update of a product that shows only what was changed. */
export function changed(
  n: number,
  owner: unknown,
  identity: StoredIdentity,
  channels: string[] = [],
): WrittenEvent {
  return { ...whole(n, owner, identity, channels), whole: false };
}

export function deleted(n: number, owner: unknown): DeletedEvent {
  return { type: 'deleted', ...when(n), kind: 'product', owner };
}

/** The mark of the tenant's products is raised. */
export function announced(n: number, fence: Date): AnnouncedEvent {
  return { type: 'announced', ...when(n), mark: { ...TENANT, kind: 'product' }, fence };
}

export function tombstoneSeen(n: number, entry: mongo.ObjectId, stamp: Date | null): TombstoneEvent {
  return { type: 'tombstone', ...when(n), entry, stamp };
}

/** What the watcher knows before a batch: nothing but this. */
export const knowing = (known: Partial<Knowledge> = {}): Knowledge => ({
  owned: new Map(),
  partials: new Map(),
  holders: new Map(),
  fences: new Map(),
  tombstones: new Map(),
  ...known,
});

export const named = (id: string, tenant: object = TENANT): Identity => ({
  kind: 'product',
  ...TENANT,
  ...tenant,
  id,
});
