import type { mongo } from 'mongoose';
import {
  type DeadIdentity,
  type Holder,
  type Holders,
  type Identity,
  type PartialIdentity,
  inTenant,
  type KnownChannel,
  type StoredIdentity,
  identityKey,
  identityOf,
  isSame,
  type LedgerChange,
  type Life,
  type Rival,
  textsOf,
  updatedIdentity,
  type Claims,
} from './identity.js';
import type { Fences, KnownFences } from './marks.js';
import type { LogPlace } from './place.js';
import { isObjectId } from '../../record/pure.js';
import type { Kind } from '../../kinds/index.js';
import { type WatchedEvent, type DeletedEvent, type WrittenEvent, isWritten } from './events.js';

/**
 * An identity that a record owns. `isNumber`: the `id` is stored as a number. `learned`: the place in the log at which
 * it was learned. `isLooked`: a read found it.
 */
type Owning = Identity & { isNumber?: true; learned?: LogPlace; isLooked?: true };

/**
 * The living identities that each record owns, by the hex of its `_id`: the part of the ledger that concerns a batch, in the
 * order in which it was learned.
 */
export type Owned = Map<string, readonly Owning[]>;

/**
 * What is known of records that own no identity yet, by the hex of their `_id`; `null` once a record has an identity or
 * is gone.
 */
export type Partials = Map<string, PartialIdentity | null>;

/** What a watcher knows before a batch, as far as it concerns the batch. The rules only read it. */
export interface Knowledge {
  owned: ReadonlyMap<string, readonly Owning[]>;
  partials: ReadonlyMap<string, PartialIdentity | null>;
  holders: ReadonlyMap<string, Holder>;
  fences: KnownFences;
  /** The identities of the tombstones in the batch, by the hex of the tombstone's `_id`. */
  tombstones: ReadonlyMap<string, DeadIdentity>;
}

/** What the watcher knows after the batch. */
export interface KnowledgeAfter {
  owned: Owned;
  partials: Partials;
  holders: Holders;
  /** The fences that the batch has passed. All others, thousands of them, are unchanged. */
  passed: Fences;
}

/** A copy of the knowledge before a batch, for the rules to change. It holds only what concerns the batch. */
export function begun({ owned, partials, holders }: Knowledge): KnowledgeAfter {
  return {
    owned: new Map(owned),
    partials: new Map(partials),
    holders: new Map(holders),
    passed: new Map(),
  };
}

/**
 * Whether an incomplete identity or exactly one owned identity of the record is known, and none was learned at a later
 * place.
 */
export function isKnownBefore(
  at: LogPlace,
  key: string,
  { owned, partials }: Pick<Knowledge, 'owned' | 'partials'>,
): boolean {
  const entries = owned.get(key) ?? [];
  const partial = partials.get(key) ?? undefined;
  const isAhead = [...entries, ...(partial ? [partial] : [])].some(({ learned = '' }) => learned > at);
  return !isAhead && (partial !== undefined || entries.length === 1);
}

/**
 * The channels that products got in these events, with the application that each product was in at the time. Reading the
 * products now would miss channels that a product had only briefly, but that consumers may have seen.
 */
export function channelsGot(events: WatchedEvent[], owned: Knowledge['owned']): KnownChannel[] {
  const tenants = new Map<string, StoredIdentity>();
  return events.flatMap((event) => {
    if (event.type !== 'written' || !isObjectId(event.owner)) return [];
    const owner = event.owner.toHexString();
    const before = tenants.get(owner) ?? owned.get(owner)?.[0];
    const now = event.whole ? event.identity : { ...before, ...event.identity };
    tenants.set(owner, now);
    return inTenant(now, event.channels);
  });
}

/** What the events of one kind have shown so far. */
export interface Learned {
  changes: Map<string, LedgerChange>;
  /**
   * Identities that a record with a numeric `id` owned in this batch or just before it. They must become tombstones
   * before another record owns them.
   */
  numbers: Set<string>;
  revealed: Map<string, mongo.ObjectId>;
  rivals: Rival[];
}

/**
 * Rule 3: a record that is deleted or moved leaves a tombstone for its old identity; a record that is written lives under
 * its new identity. The old identity comes from the ledger, or from the partials if the record could not be delivered yet.
 * The new identity comes from the event. If the record has several identities, the one learned first counts: after a crash,
 * or after a read ahead of the stream, the ledger may know more than the events so far have shown. Updates `knowledge` and
 * `learned`.
 */
export function learn(
  kind: Kind,
  event: WrittenEvent | DeletedEvent,
  knowledge: KnowledgeAfter,
  learned: Learned,
): void {
  if (event.type === 'written' && !touchesIdentity(event)) return;
  const { owned, partials } = knowledge;
  const { place: at } = event;
  const owner = event.owner as mongo.ObjectId;
  const key = owner.toHexString();
  const before = owned.get(key) ?? [];
  const stored = event.type === 'written' ? storedAfter(event, knownOf(key, knowledge)) : undefined;
  const now = stored && identityOf(kind, owner, stored);
  for (const gone of before.filter((identity) => !isSame(identity, now)))
    bury(gone, { key, at }, knowledge, learned);
  owned.set(key, now === undefined ? [] : [{ ...now, ...numberIn(stored), learned: at }]);
  if (now !== undefined)
    live({ identity: now, at, alive: true, owner, ...numberIn(stored) }, before, knowledge, learned);
  else if (stored !== undefined) partials.set(key, textsOf(stored, at));
  else if (partials.has(key)) partials.set(key, null);
}

/**
 * Notes the death of an identity. If it came to life in this batch, it stays `shortLived` even at a second death: the
 * ledger may contain neither life.
 */
function bury(
  gone: Owning,
  { key, at }: { key: string; at: LogPlace },
  { holders }: KnowledgeAfter,
  { changes, numbers }: Learned,
): void {
  const name = identityKey(gone);
  const before = changes.get(name);
  const shortLived = before !== undefined && (before.alive || before.shortLived);
  changes.set(name, { identity: gone, at, alive: false, shortLived });
  if (gone.isNumber) numbers.add(name);
  if (holders.get(name)?.owner === key) holders.delete(name);
}

/**
 * A record claims its identity. Below, a number is a record whose `id` is a number, and a text is one whose `id` is a
 * text. The ledger has one owner for each identity; with numbers there may be other claimants (contract §4). A text
 * replaces another text at once. Every other change of owner goes through a tombstone: a text ends the life of a
 * number, and a number waits until the owner's life has ended. From the tombstone, rule 4 revives the next claimant, in
 * one transaction with a stamp above all that consumers have seen.
 */
function live(life: Life, before: readonly Owning[], knowledge: KnowledgeAfter, learned: Learned): void {
  const { holders, partials } = knowledge;
  const { changes, revealed, numbers } = learned;
  const { identity, at, isNumber } = life;
  const name = identityKey(identity);
  const key = life.owner.toHexString();
  const holder = holders.get(name);
  const isHeld = holder !== undefined && holder.owner !== key;
  const earlier = changes.get(name);
  if (isNumber && (isHeld || earlier?.alive === false))
    return ignore({ owner: key, identity }, at, knowledge, learned);
  if (partials.has(key)) partials.set(key, null);
  holders.set(name, { owner: key, ...numberIn(life) });
  const endsNumber = isHeld && holder.isNumber === true;
  if (endsNumber) ignore({ owner: holder.owner, identity }, at, knowledge, learned);
  const asNumber = before.find((one) => one.isNumber && isSame(one, identity));
  if (isNumber || endsNumber || asNumber !== undefined) numbers.add(name);
  const isAfterDeath = earlier?.alive
    ? earlier.afterDeath === true
    : earlier !== undefined && numbers.has(name);
  const wasText = isNumber && earlier?.alive && (earlier.wasText || !earlier.isNumber);
  changes.set(name, {
    ...life,
    ...(wasText && { wasText }),
    ...((endsNumber || isAfterDeath) && { afterDeath: true as const }),
  });
  if (isNumber && !isBefore(asNumber?.learned, at)) revealed.set(key, life.owner);
}

/**
 * Marks a record as a rival, because another record, or a hard delete of this batch, is known under the text of its
 * numeric `id`.
 */
function ignore(rival: Rival, at: LogPlace, { owned, partials }: KnowledgeAfter, { rivals }: Learned): void {
  const { owner, identity } = rival;
  const { organizationid, appid, id } = identity;
  const known = partials.get(owner);
  const isKnown = known?.isNumber === true && isSame(identity, { ...identity, ...known });
  if (!isKnown) rivals.push(rival);
  partials.set(owner, { organizationid, appid, id, isNumber: true, learned: at });
  owned.set(owner, []);
}

/**
 * Knowledge of the same place does not count as earlier: a leader may have stored it and crashed before it stored the
 * other effects of the event.
 */
function isBefore(learned: LogPlace | undefined, at: LogPlace): boolean {
  return learned !== undefined && learned < at;
}

function numberIn(stored: { isNumber?: true } | undefined): { isNumber?: true } {
  return stored?.isNumber === true ? { isNumber: true } : {};
}

/** Whether the event contains any part of the record's identity. */
export function touchesIdentity(event: WrittenEvent): boolean {
  return event.whole || Object.keys(event.identity).length > 0;
}

/**
 * The known identity of a record: the newer of what the ledger and the incomplete identities contain. Either may be out of
 * date.
 */
export function knownOf(
  key: string,
  { owned, partials }: Pick<Knowledge, 'owned' | 'partials'>,
): PartialIdentity | undefined {
  const [entry] = owned.get(key) ?? [];
  const partial = partials.get(key) ?? undefined;
  if (entry === undefined || partial === undefined) return partial ?? entry;
  return (partial.learned ?? '') < (entry.learned ?? '') ? entry : partial;
}

/** The identity of a record after an event, given the identity before it. */
export function storedAfter(
  event: WrittenEvent,
  before: PartialIdentity | StoredIdentity | undefined,
): StoredIdentity {
  return event.whole ? event.identity : updatedIdentity(before ?? {}, event.identity);
}

/** The identities that the events of a batch will claim, as far as the events and the prior knowledge show. */
export function claimsIn<E extends { type: string }>(
  kind: Kind,
  events: E[],
  known: Pick<Knowledge, 'owned' | 'partials'>,
): Claims {
  const claims: Claims = { numbers: [], texts: [] };
  const standing = new Map<string, StoredIdentity>();
  for (const event of events) {
    if (!isWritten(event) || !isObjectId(event.owner) || !touchesIdentity(event)) continue;
    const key = event.owner.toHexString();
    const before = known.owned.get(key) ?? [];
    const stored = storedAfter(event, standing.get(key) ?? knownOf(key, known));
    standing.set(key, stored);
    const now = identityOf(kind, event.owner, stored);
    if (now === undefined) continue;
    if (stored.isNumber) claims.numbers.push(now);
    else if (!before.some((identity) => isSame(identity, now))) claims.texts.push(now);
  }
  return claims;
}
