import { withTold } from '../../../src/replication/ledger/identity.js';
import type { WrittenEvent } from '../../../src/replication/log/watched-event.js';
import type { KindEvent } from '../../../src/replication/watcher/rules/decide.js';
import type { Knowledge } from '../../../src/replication/watcher/rules/knowledge.js';
import { placeBehind } from '../../../src/replication/progress/place.js';
import { isGone } from '../service/view.js';
import { ORGANIZATION } from '../world/documents.js';
import { toldId } from '../world/events.js';
import { laterOf } from '../world/time.js';
import type { ModelWatcher } from './watcher.js';

type Known = Pick<Knowledge, 'owned' | 'partials'>;

/**
 * The events as one loop beside others sees them: a record that comes to another loop's application is gone for this one. Of a
 * record that this loop does not know only what may bring it here counts: what is told as a whole, and moves.
 */
export function ownHalves(watcher: ModelWatcher, events: KindEvent[], knowledge: Known): KindEvent[] {
  const standing = new Map<string, string | undefined>();
  return events.flatMap((event): KindEvent[] => {
    if (event.type === 'announced') return watcher.owns(event.mark.appid) ? [event] : [];
    if (event.type === 'tombstone') return [event];
    const key = String(event.owner);
    const isFirst = !standing.has(key);
    const before = isFirst ? knownIn(key, knowledge) : standing.get(key);
    const isMove = event.type === 'written' && (event.whole || Object.keys(event.identity).length > 0);
    if (before === undefined && !isMove) return [];
    standing.set(key, event.type === 'deleted' ? undefined : before);
    if (event.type === 'deleted') return [event];
    const told = isComplete(watcher, event, { isFirst, isMove, knowledge })
      ? event
      : readAsOf(watcher, event, before === undefined);
    if (told === undefined) return [];
    const appid = told.identity.appid ?? before;
    const isOwn = typeof appid === 'string' && watcher.owns(appid);
    standing.set(key, isOwn ? appid : undefined);
    if (isOwn) return [told];
    if (watcher.world.has('a move not taken by halves')) return [];
    const { at, place, kind, owner } = event;
    return [{ type: 'deleted', at, place, kind, owner }];
  });
}

/** In which of its applications this loop knows a record. */
function knownIn(key: string, { owned, partials }: Known): string | undefined {
  return partials.get(key)?.appid ?? owned.get(key)?.[0]?.appid;
}

/**
 * Whether what the event leaves out is in what is known. Of a move that is so only where one entry of an earlier place is all that
 * is known: another loop may have told, or have been told, more of the record meanwhile.
 */
function isComplete(
  { world }: ModelWatcher,
  { whole, owner, place }: WrittenEvent,
  {
    isFirst,
    isMove,
    knowledge: { owned, partials },
  }: { isFirst: boolean; isMove: boolean; knowledge: Known },
): boolean {
  if (whole) return true;
  const key = String(owner);
  const known = owned.get(key) ?? [];
  if (!isMove) return !isFirst || known.length < 2;
  const isWaiting = partials.has(key) && !world.has('what a number waits for completes a move');
  const isEarlier = known.every(({ learned = '' }) => learned < place);
  return isFirst && !isWaiting && (known.length === 1 || partials.has(key)) && isEarlier;
}

/**
 * As a whole: as the record was at that very time, with its stamp. Where the server does not hold that moment any more, as it is
 * now, and that is knowledge of now: no moment before it is shown of anything, and the stamp counts as bad.
 */
function readAsOf(watcher: ModelWatcher, event: WrittenEvent, isUnknown: boolean): WrittenEvent | undefined {
  const { world } = watcher;
  const { database } = world;
  if (isUnknown && world.has('unknown owner always ignored')) return undefined;
  const isLate = isGone(world);
  if (isLate && !world.has('since not moved after a move that was read late'))
    watcher.since = laterOf(database.newest, watcher.since);
  const { records } = isLate ? database.now : database.asOf(event.at);
  const record = records.get(String(event.owner));
  if (record === undefined) return undefined;
  const present = { organizationid: ORGANIZATION, appid: record.appid, ...toldId(record) };
  const isMixed = !isLate || world.has('a move that was read late as of its event');
  const then = isLate ? null : (record.lastupdated ?? null);
  const isLeft = event.stamp !== undefined || world.has('a move read without its stamp');
  return {
    ...event,
    whole: true,
    identity: isMixed ? withTold(present, event.identity) : present,
    ...(!isMixed && { place: placeBehind(database.newest) }),
    ...(!isLeft && { stamp: then }),
  };
}
