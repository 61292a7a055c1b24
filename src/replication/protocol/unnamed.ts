import { isObjectId } from '../../record/pure.js';
import type { StoredIdentity } from './identity.js';
import { isWritten, type WrittenEvent } from './events.js';
import type { AppShare } from './place.js';
import { isKnownBefore, type Knowledge } from './knowledge.js';
import { knownOf, storedAfter, touchesIdentity } from './learn.js';

/**
 * The events whose record has to be read as of the event: of what they do not tell, too little or too much is known. What is
 * known of a number that waits completes no move: a look may have told it of a later place, or a term that was given up may have
 * written it late, while the ledger knew more.
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
    const isTold = event.whole || touchesIdentity(event);
    const isDoubtful = !isKnownBefore(event.place, key, knowledge) || (isWaiting && isTold);
    const isUnnamed = !event.whole && ((!named.has(key) && isDoubtful) || isRemoving(event));
    if (isUnnamed || isTold || !isWaiting) named.add(key);
    return isUnnamed;
  });
}

/**
 * The same for a loop that knows its share of the applications only (design §10): nothing of the share tells what a record was that
 * comes to it. An update that leaves the identity alone is read only if the share knows the record, and one that tells enough is not.
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
      if (!isWritten(event) || event.whole || tellsEnough(event, share)) return false;
      return !(isFirst && isCertain(event, key, knowledge));
    }
    if (named.has(key) || !isKnown(key, knowledge) || isKnownBefore(event.place, key, knowledge))
      return false;
    named.add(key);
    return true;
  });
}

/**
 * Whether the event itself tells all of the identity, or that the record is not in the one application of the share. The loop that has all
 * but some reads what goes to one of these: it comes to the event in time, and remembers it for the loop of that application.
 */
function tellsEnough({ identity }: WrittenEvent, share: AppShare): boolean {
  const { organizationid, appid, id } = identity;
  const isOf = [organizationid, appid].every((name) => typeof name === 'string');
  if (isOf && typeof id === 'string') return true;
  if ('but' in share) return false;
  const { only } = share;
  return [
    [organizationid, only.organizationid],
    [appid, only.appid],
  ].some(([told, own]) => typeof told === 'string' && told !== own);
}

function isKnown(key: string, { owned, partials }: Pick<Knowledge, 'owned' | 'partials'>): boolean {
  return (owned.get(key) ?? []).length > 0 || (partials.get(key) ?? undefined) !== undefined;
}

/** The moves whose record is known for certain, with what it is behind each: those that come first of their record in a batch. */
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
 * Whether one identity of the record is known, as events of earlier places have told it, and the event removes nothing of it. What a
 * look has told may be of a later place, and what the record was until then is known to another share.
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
