import type { mongo } from 'mongoose';
import type { IDENTITY } from '../../record/index.js';
import { isObjectId, isUnreadable, type Kind, type Tenant } from '../../record/pure.js';
import type { LogPlace } from '../progress/index.js';

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
