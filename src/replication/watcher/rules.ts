import { mongo } from 'mongoose';
import type { Kind } from '../../record/index.js';
import { type Identity, identityKey, type LedgerChange, type PartialIdentity } from '../ledger/index.js';
import type { StoredIdentity, WatchedEvent } from './events.js';

/** Which living identities each record owns, by the hex of its `_id`: the ledger as far as a batch concerns it. */
export type Owned = Map<string, Identity[]>;

/** The fields of an identity as somebody saw them. */
type PresentIdentity = Partial<Record<keyof StoredIdentity, unknown>>;

/** What an identity is once all three fields are texts and the record can be delivered; nothing otherwise. */
export function identityOf(kind: Kind, owner: unknown, stored: PresentIdentity): Identity | undefined {
  const { organizationid, appid, id } = stored;
  const texts = typeof organizationid === 'string' && typeof appid === 'string' && typeof id === 'string';
  return texts && owner instanceof mongo.ObjectId ? { kind, organizationid, appid, id } : undefined;
}

/** What is known of records that are no identity yet, by the hex of their `_id`; `null` where that is over. */
export type Partials = Map<string, PartialIdentity | null>;

/**
 * What the events of a batch, in commit order, teach the ledger (design §3, rule 3): a record that is deleted or moved
 * leaves a tombstone for what it was, a record written lives under what it is. What it was comes from the ledger, or,
 * for a record that could not be told of yet, from `partials`, which is brought up to date; what it is comes from the
 * event. Only the last change of an identity counts.
 */
export function ledgerChanges(events: WatchedEvent[], owned: Owned, partials: Partials): LedgerChange[] {
  const changes = new Map<string, LedgerChange>();
  for (const event of events) {
    if (event.type === 'upheaval' || !(event.owner instanceof mongo.ObjectId)) continue;
    if (event.type === 'written' && !touchesIdentity(event)) continue;
    const { kind, owner, at } = event;
    const key = owner.toHexString();
    const before = owned.get(key) ?? [];
    const stored = event.type === 'written' ? storedAfter(event, before[0] ?? partials.get(key)) : undefined;
    const now = stored && identityOf(kind, owner, stored);
    for (const gone of before.filter((identity) => !isSame(identity, now))) {
      const shortLived = changes.get(identityKey(gone))?.alive === true;
      changes.set(identityKey(gone), { identity: gone, at, alive: false, shortLived });
    }
    if (now !== undefined) changes.set(identityKey(now), { identity: now, at, alive: true, owner });
    owned.set(key, now === undefined ? [] : [now]);
    if (stored !== undefined && now === undefined) partials.set(key, textsOf(stored));
    else if (partials.has(key)) partials.set(key, null);
  }
  return [...changes.values()];
}

/** Of an incomplete identity, what can be kept until the rest is told. */
export function textsOf({ organizationid, appid, id }: PresentIdentity): PartialIdentity {
  const fields = Object.entries({ organizationid, appid, id });
  return Object.fromEntries(fields.filter(([, value]) => typeof value === 'string'));
}

type Written = WatchedEvent & { type: 'written' };

function touchesIdentity(event: Written): boolean {
  return event.whole || Object.keys(event.identity).length > 0;
}

function storedAfter(event: Written, before: PartialIdentity | null | undefined): StoredIdentity {
  return event.whole ? event.identity : { ...before, ...event.identity };
}

function isSame(one: Identity, other: Identity | undefined): boolean {
  return other !== undefined && identityKey(one) === identityKey(other);
}
