import type { mongo } from 'mongoose';
import { type Tenant, isObjectId, isUnreadable, type Kind } from '../../record/pure.js';
import type { IDENTITY } from '../../record/index.js';
import type { LogPlace } from './place.js';

/** A channel that a product of the application has carried at some time (contract §1, 404 `unknown-channel`). */
export interface KnownChannel extends Tenant {
  channel: string;
}

/** What a record is to consumers. */
export interface Identity extends Tenant {
  kind: Kind;
  id: string;
}

/** An identity that is dead, and the record with a number that its death has ended last, which may claim it still. */
export type DeadIdentity = Identity & { number?: mongo.ObjectId };

export function identityKey({ organizationid, appid, kind, id }: Identity): string {
  return JSON.stringify([kind, organizationid, appid, id]);
}

/**
 * What is known of the identity of a record: texts where they are texts. `isNumber`: the `id` is stored as a number.
 * `learned`: where in the log; without it before everything.
 */
export type PartialIdentity = Partial<Record<'organizationid' | 'appid' | 'id', string>> & {
  isNumber?: true;
  learned?: LogPlace;
};

/**
 * The three fields that say what a record is to consumers: texts, or `false` where one is something else. Where the
 * event does not tell, nothing. `isNumber`: the `id` is stored as a number.
 */
export type StoredIdentity = Partial<Record<(typeof IDENTITY)[number], string | false>> & { isNumber?: true };

/** The fields of an identity as somebody saw them. */
type PresentIdentity = Partial<Record<keyof StoredIdentity, unknown>>;

/** What an identity is once all three fields are texts and the record can be delivered; nothing otherwise. */
export function identityOf(kind: Kind, owner: unknown, stored: PresentIdentity): Identity | undefined {
  const { organizationid, appid, id } = stored;
  const texts = typeof organizationid === 'string' && typeof appid === 'string' && typeof id === 'string';
  return texts && !isUnreadable(organizationid) && !isUnreadable(appid) && isObjectId(owner)
    ? { kind, organizationid, appid, id }
    : undefined;
}

/** The parts of an incomplete identity that can be kept until the rest is known, and the log place that they come from. */
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

/** What is known of an identity once more is told. A new `id` tells by itself whether it is a number. */
export function withTold<K extends PartialIdentity | StoredIdentity>(
  known: K,
  news: StoredIdentity,
): StoredIdentity {
  const { isNumber, ...rest } = known;
  return { ...rest, ...(isNumber && !('id' in news) && { isNumber }), ...news };
}

/** An identity lives, with the record that owns it. */
export interface Life {
  identity: Identity;
  at: LogPlace;
  alive: true;
  owner: mongo.ObjectId;
  /** The `id` is stored as a number. */
  isNumber?: true;
  /** It is a number now, and was a text before in the same batch, with the right of a text to the entry. */
  wasText?: true;
  /** What lived there until now, in the ledger or in the same batch, leaves a tombstone first. */
  afterDeath?: true;
  /** A look has found the record there, which may have come of a later place. */
  isLooked?: true;
}

/** An identity has no record any more. */
export interface Death {
  identity: Identity;
  at: LogPlace;
  alive: false;
  /** It was born in the same batch of events, so the ledger may not know it yet. */
  shortLived: boolean;
}

/** What the watcher learned about an identity at a place in the log. */
export type LedgerChange = Life | Death;

/** The identities under which records want to live that the ledger does not know there. */
export interface Claims {
  /** By a number: some other record may live there. */
  numbers: Identity[];
  /** By a text: only a number may still live there, since texts are unique. */
  texts: Identity[];
}

/** Who lives under an identity: the hex of the record's `_id`, and whether its `id` is stored as a number. */
export interface Holder {
  owner: string;
  isNumber?: true;
}

/** Who lives under an identity, by its key, as far as numbers are concerned: they claim it, or hold it. */
export type Holders = Map<string, Holder>;

export interface Rival {
  owner: string;
  identity: Identity;
}

/** Identities of one kind as queries ask for them: the `id`s of each application. */
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

/** The channels as those of an application; none where the record that carries them is in no application. */
export function inTenant(
  { organizationid, appid }: { organizationid?: unknown; appid?: unknown },
  channels: string[],
): KnownChannel[] {
  if (typeof organizationid !== 'string' || typeof appid !== 'string') return [];
  return channels.map((channel) => ({ organizationid, appid, channel }));
}
