import { isObjectId } from '../../record/pure.js';
import type { StoredIdentity } from './identity.js';
import { isWritten, type WrittenEvent } from './events.js';
import type { AppShare } from './place.js';
import { isKnownBefore, type Knowledge, knownOf, storedAfter, touchesIdentity } from './learn.js';

/**
 * The events whose record must be read as of the event: the fields that the event does not contain are unknown or
 * ambiguous, or the event may have removed a field of the identity. The stored knowledge of a record with a numeric
 * `id` that waits for its identity is not used to complete a move: a read may have found it at a later place, or an
 * abandoned term may have written it late, when the ledger already knew more.
 */
export function unnamedAmong(
  events: { type: string }[],
  knowledge: Pick<Knowledge, 'owned' | 'partials'>,
): WrittenEvent[] {
  const named = new Set<string>();
  return events.filter(isWritten).filter((event) => {
    if (!isObjectId(event.owner)) return false;
    const key = event.owner.toHexString();
    const isWaiting = knowledge.partials.get(key)?.isNumber === true;
    const isStated = event.whole || touchesIdentity(event);
    const isDoubtful = !isKnownBefore(event.place, key, knowledge) || (isWaiting && isStated);
    const isUnnamed = !event.whole && ((!named.has(key) && isDoubtful) || isRemoving(event));
    if (isUnnamed || isStated || !isWaiting) named.add(key);
    return isUnnamed;
  });
}

/**
 * Like {@link unnamedAmong}, for a loop that knows only its share of the applications (design §10). The share does not know
 * the former identity of a record that enters it. An update that does not change the identity is read only if the share
 * knows the record. An event is not read if it contains enough of the identity, or if it is the first of its record and
 * its result is certain ({@link isCertain}).
 */
export function unnamedInShare(
  events: { type: string; owner?: unknown }[],
  knowledge: Pick<Knowledge, 'owned' | 'partials'>,
  share: AppShare,
): WrittenEvent[] {
  const met = new Set<string>();
  const named = new Set<string>();
  return events.filter((event): event is WrittenEvent => {
    if (!isObjectId(event.owner)) return false;
    const key = event.owner.toHexString();
    const isFirst = !met.has(key);
    met.add(key);
    if (!isWritten(event) || event.whole || touchesIdentity(event)) {
      named.add(key);
      if (!isWritten(event) || event.whole || namesEnough(event, share)) return false;
      return !(isFirst && isCertain(event, key, knowledge));
    }
    if (named.has(key) || !isKnown(key, knowledge) || isKnownBefore(event.place, key, knowledge))
      return false;
    named.add(key);
    return true;
  });
}

/**
 * Whether the event contains the whole identity, or shows that the record is not in the one application of the share.
 * The loop with all but some applications also reads records that move to an excluded application: it reaches the event
 * while the record can still be read as of it, and remembers the result for the lane of that application.
 */
function namesEnough({ identity }: WrittenEvent, share: AppShare): boolean {
  const { organizationid, appid, id } = identity;
  const isOf = [organizationid, appid].every((name) => typeof name === 'string');
  if (isOf && typeof id === 'string') return true;
  if ('but' in share) return false;
  const { only } = share;
  return [
    [organizationid, only.organizationid],
    [appid, only.appid],
  ].some(([stated, own]) => typeof stated === 'string' && stated !== own);
}

function isKnown(key: string, { owned, partials }: Pick<Knowledge, 'owned' | 'partials'>): boolean {
  return (owned.get(key) ?? []).length > 0 || (partials.get(key) ?? undefined) !== undefined;
}

/**
 * The moves whose result is certain without a read, each with the identity after the move. A move qualifies only if it
 * is the first event of its record in the batch.
 */
export function certainMoves(
  events: { type: string; owner?: unknown }[],
  knowledge: Pick<Knowledge, 'owned' | 'partials'>,
): [WrittenEvent, StoredIdentity][] {
  const met = new Set<string>();
  return events.flatMap((event): [WrittenEvent, StoredIdentity][] => {
    if (!isObjectId(event.owner)) return [];
    const key = event.owner.toHexString();
    const isFirst = !met.has(key);
    met.add(key);
    if (!isFirst || !isWritten(event) || event.whole || !touchesIdentity(event)) return [];
    if (!isCertain(event, key, knowledge)) return [];
    const { organizationid, appid, id, isNumber } = storedAfter(
      event,
      knownOf(key, knowledge),
    ) as Required<StoredIdentity>;
    return [[event, { organizationid, appid, id, ...(isNumber && { isNumber }) }]];
  });
}

/**
 * Whether exactly one identity of the record is known, from events at earlier places, and the event removes no part of
 * it. An identity that was found by a read may be of a later place than the event; the earlier identity may then be
 * known only to another share.
 */
function isCertain(
  event: WrittenEvent,
  key: string,
  { owned, partials }: Pick<Knowledge, 'owned' | 'partials'>,
): boolean {
  const [entry, another] = owned.get(key) ?? [];
  const isOne =
    entry !== undefined && another === undefined && (partials.get(key) ?? undefined) === undefined;
  return isOne && entry.isLooked === undefined && (entry.learned ?? '') < event.place && !isRemoving(event);
}

/** Whether the event may have removed a field of the identity. */
function isRemoving({ identity }: WrittenEvent): boolean {
  return Object.values(identity).includes(false);
}
