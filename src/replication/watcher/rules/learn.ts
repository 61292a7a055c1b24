import type { mongo } from 'mongoose';
import type { Kind } from '../../../record/pure.js';
import {
  type Identity,
  identityKey,
  identityOf,
  isSame,
  type LedgerChange,
  type Life,
  type PartialIdentity,
  type Rival,
  type StoredIdentity,
  textsOf,
  withTold,
} from '../../ledger/pure.js';
import type { DeletedEvent, WrittenEvent } from '../../log/pure.js';
import type { LogPlace } from '../../progress/index.js';
import type { KnowledgeAfter, Owning } from './knowledge.js';

/** What the events have told so far, of one kind. */
export interface Learned {
  changes: Map<string, LedgerChange>;
  revealed: Map<string, mongo.ObjectId>;
  rivals: Rival[];
}

/**
 * Rule 3: a record that is deleted or moved leaves a tombstone for what it was, a record written lives under what it
 * is. What it was comes from the ledger, or, for a record that could not be told of yet, from the partials; what it is
 * comes from the event. Of several identities the one learned first counts: the ledger may know more than the events
 * so far have told, after a crash, or where somebody looked ahead. Brings up to date what is known and what was learned.
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
  const stored = event.type === 'written' ? storedAfter(event, partials.get(key) ?? before[0]) : undefined;
  const now = stored && identityOf(kind, owner, stored);
  for (const gone of before.filter((identity) => !isSame(identity, now)))
    bury(gone, { key, at }, knowledge, learned);
  owned.set(key, now === undefined ? [] : [{ ...now, ...numberIn(stored), learned: at }]);
  if (now !== undefined)
    live({ identity: now, at, alive: true, owner, ...numberIn(stored) }, before, knowledge, learned);
  else if (stored !== undefined) partials.set(key, textsOf(stored));
  else if (partials.has(key)) partials.set(key, null);
}

function bury(
  gone: Identity,
  { key, at }: { key: string; at: LogPlace },
  { holders }: KnowledgeAfter,
  { changes }: Learned,
): void {
  const name = identityKey(gone);
  const shortLived = changes.get(name)?.alive === true;
  changes.set(name, { identity: gone, at, alive: false, shortLived });
  if (holders.get(name)?.owner === key) holders.delete(name);
}

/**
 * A record lives under what it is. Only one can, and with numbers several claim to (contract §4): a text wins over a
 * number, and of numbers the one that the ledger knows. A number never takes the entry of another record, nor a text that
 * of a number: what lived there leaves a tombstone, and rule 4 brings back whoever is to live. So consumers see
 * a change of owner as a resurrection, in one transaction with a stamp above all that they have seen.
 */
function live(life: Life, before: readonly Owning[], knowledge: KnowledgeAfter, learned: Learned): void {
  const { holders, partials } = knowledge;
  const { changes, revealed } = learned;
  const { identity, at, isNumber } = life;
  const name = identityKey(identity);
  const key = life.owner.toHexString();
  const holder = holders.get(name);
  const isHeld = holder !== undefined && holder.owner !== key;
  if (isNumber && (isHeld || (holder === undefined && changes.has(name))))
    return ignore({ owner: key, identity }, knowledge, learned);
  if (partials.has(key)) partials.set(key, null);
  holders.set(name, { owner: key, ...numberIn(life) });
  if (isHeld && holder.isNumber) {
    ignore({ owner: holder.owner, identity }, knowledge, learned);
    return bury(identity, { key: holder.owner, at }, knowledge, learned);
  }
  changes.set(name, life);
  if (isNumber && !before.some((one) => isSame(one, identity) && one.isNumber && isBefore(one.learned, at)))
    revealed.set(key, life.owner);
}

/** Consumers know another record under the text of its number. */
function ignore(rival: Rival, { owned, partials }: KnowledgeAfter, { rivals }: Learned): void {
  const { owner, identity } = rival;
  const { organizationid, appid, id } = identity;
  const known = partials.get(owner);
  const isKnown = known?.isNumber === true && isSame(identity, { ...identity, ...known });
  if (!isKnown) rivals.push(rival);
  partials.set(owner, { organizationid, appid, id, isNumber: true });
  owned.set(owner, []);
}

/** What is learned anew in the same place may have been written down by a leader that crashed before it did the rest. */
function isBefore(learned: LogPlace | undefined, at: LogPlace): boolean {
  return learned !== undefined && learned < at;
}

function numberIn(stored: { isNumber?: true } | undefined): { isNumber?: true } {
  return stored?.isNumber === true ? { isNumber: true } : {};
}

/** Whether the event tells anything of what the record is to consumers. */
export function touchesIdentity(event: WrittenEvent): boolean {
  return event.whole || Object.keys(event.identity).length > 0;
}

/** The identity of a record behind an event, from what it was before. */
export function storedAfter(
  event: WrittenEvent,
  before: PartialIdentity | StoredIdentity | null | undefined,
): StoredIdentity {
  return event.whole ? event.identity : withTold(before ?? {}, event.identity);
}
