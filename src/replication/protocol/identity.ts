import type { mongo } from 'mongoose';
import { type Tenant, isObjectId, isUnreadable } from '../../record/pure.js';
import type { Kind } from '../../kinds/index.js';
import type { IDENTITY } from '../../record/index.js';
import type { LogPlace } from './place.js';

/** A channel that a product of the application has had at some time (contract §1, 404 `unknown-channel`). */
export interface KnownChannel extends Tenant {
  channel: string;
}

/** What identifies a record to consumers. */
export interface Identity extends Tenant {
  kind: Kind;
  id: string;
}

/** A dead identity. `number` is the last record with a numeric `id` that owned it; that record may still claim it. */
export type DeadIdentity = Identity & { number?: mongo.ObjectId };

export function identityKey({ organizationid, appid, kind, id }: Identity): string {
  return JSON.stringify([kind, organizationid, appid, id]);
}

/**
 * The known part of a record's identity: only fields that are strings. `isNumber`: the `id` is stored as a number.
 * `learned`: the place in the log; if absent, the knowledge precedes every place.
 */
export type PartialIdentity = Partial<Record<'organizationid' | 'appid' | 'id', string>> & {
  isNumber?: true;
  learned?: LogPlace;
};

/**
 * The three fields that identify a record to consumers: strings, or `false` for anything else. A field that the event does
 * not contain is absent. `isNumber`: the `id` is stored as a number.
 */
export type StoredIdentity = Partial<Record<(typeof IDENTITY)[number], string | false>> & { isNumber?: true };

/** The fields of an identity as they were read, of any type. */
type PresentIdentity = Partial<Record<keyof StoredIdentity, unknown>>;

/** The identity, if all three fields are strings and the record can be delivered; undefined otherwise. */
export function identityOf(kind: Kind, owner: unknown, stored: PresentIdentity): Identity | undefined {
  const { organizationid, appid, id } = stored;
  const texts = typeof organizationid === 'string' && typeof appid === 'string' && typeof id === 'string';
  return texts && !isUnreadable(organizationid) && !isUnreadable(appid) && isObjectId(owner)
    ? { kind, organizationid, appid, id }
    : undefined;
}

/**
 * The parts of an incomplete identity that are kept until the rest is known, with the place in the log that they come from.
 */
export function textsOf(
  { organizationid, appid, id, isNumber }: PresentIdentity,
  learned: LogPlace,
): PartialIdentity {
  const fields = Object.entries({ organizationid, appid, id });
  const texts = Object.fromEntries(fields.filter(([, value]) => typeof value === 'string'));
  return { ...texts, ...(isNumber === true && typeof id === 'string' && { isNumber }), learned };
}

export function isSame(one: Identity, other: Identity | undefined): boolean {
  return other !== undefined && identityKey(one) === identityKey(other);
}

/** Merges new fields into the known ones. A new `id` also determines whether the `id` is a number. */
export function updatedIdentity<K extends PartialIdentity | StoredIdentity>(
  known: K,
  news: StoredIdentity,
): StoredIdentity {
  const { isNumber, ...rest } = known;
  return { ...rest, ...(isNumber && !('id' in news) && { isNumber }), ...news };
}

/** An identity is alive, owned by a record. */
export interface Life {
  identity: Identity;
  at: LogPlace;
  alive: true;
  owner: mongo.ObjectId;
  /** The `id` is stored as a number. */
  isNumber?: true;
  /**
   * The `id` is a number now, but was a text earlier in the same batch. As a record with a text, it may still take over
   * the entry of another record with a text.
   */
  wasText?: true;
  /** The previous owner, in the ledger or in the same batch, must leave a tombstone first. */
  afterDeath?: true;
  /** The record was found by a read, so it may have got this identity at a later place in the log. */
  isLooked?: true;
}

/** An identity no longer has a record. */
export interface Death {
  identity: Identity;
  at: LogPlace;
  alive: false;
  /** The identity came to life in the same batch of events, so the ledger may not contain it yet. */
  shortLived: boolean;
}

/** What the watcher learned about an identity at a place in the log. */
export type LedgerChange = Life | Death;

/** Identities that records claim and that other records may own. */
export interface Claims {
  /** Claimed by records with a numeric `id`: any other record may own them. */
  numbers: Identity[];
  /**
   * Claimed by records with a text as `id`: only records with a numeric `id` may still own them, since texts are
   * unique.
   */
  texts: Identity[];
}

/** The record that owns an identity: the hex of its `_id`, and whether its `id` is stored as a number. */
export interface Holder {
  owner: string;
  isNumber?: true;
}

/** The owners, by {@link identityKey}, of the identities that a record with a numeric `id` claims or owns. */
export type Holders = Map<string, Holder>;

export interface Rival {
  owner: string;
  identity: Identity;
}

/** Groups identities of one kind for queries: the `id`s of each application. */
export function identitiesByTenant(identities: Identity[]): (Tenant & { ids: string[] })[] {
  const tenants = new Map<string, Tenant & { ids: string[] }>();
  for (const { organizationid, appid, id } of identities) {
    const name = JSON.stringify([organizationid, appid]);
    const tenant = tenants.get(name) ?? { organizationid, appid, ids: [] };
    tenants.set(name, tenant);
    tenant.ids.push(id);
  }
  return [...tenants.values()];
}

/** The channels with the application of their record; empty if the record is in no application. */
export function inTenant(
  { organizationid, appid }: { organizationid?: unknown; appid?: unknown },
  channels: string[],
): KnownChannel[] {
  if (typeof organizationid !== 'string' || typeof appid !== 'string') return [];
  return channels.map((channel) => ({ organizationid, appid, channel }));
}
