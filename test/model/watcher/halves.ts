import type { WrittenEvent } from '../../../src/replication/protocol/events.js';
import type { KindEvent } from '../../../src/replication/protocol/decide.js';
import type { Knowledge } from '../../../src/replication/protocol/learn.js';
import { ORGANIZATION } from '../world/documents.js';
import { wholeAsOf } from './as-of.js';
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
    const told = isComplete(event, { isFirst, isMove, knowledge })
      ? event
      : readAsOf(watcher, event, before === undefined);
    if (told === undefined) return [];
    const appid = told.identity.appid ?? before;
    const isOwn = typeof appid === 'string' && watcher.owns(appid);
    standing.set(key, isOwn ? appid : undefined);
    if (isOwn) return [isMove ? withStampToLookAt(watcher, told, appid) : told];
    if (watcher.world.has('a move not taken by halves')) return [];
    const { at, place, kind, owner } = event;
    return [{ type: 'deleted', at, place, kind, owner }];
  });
}

/**
 * A record that comes here and leaves its stamp alone may have a bad one that no loop has replaced: where it was, a pass of the
 * application may have been due. With a fence the rules look at the stamp in any case. One that is known here may have been learned
 * by a term that ended before it stamped.
 */
function withStampToLookAt(watcher: ModelWatcher, told: WrittenEvent, appid: string): WrittenEvent {
  const isLeft = told.stamp === undefined && watcher.fenceOf({ appid }) === undefined;
  if (!isLeft || watcher.world.has('the stamp of a record that comes not looked at')) return told;
  return { ...told, stamp: null };
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
  const isEarlier = known.every(({ learned = '' }) => learned < place);
  return isFirst && !partials.has(key) && known.length === 1 && isEarlier;
}

/** As a whole: as the record was at that very time. A move that tells enough needs no look. */
function readAsOf(watcher: ModelWatcher, event: WrittenEvent, isUnknown: boolean): WrittenEvent | undefined {
  const { world } = watcher;
  if (isUnknown && world.has('unknown owner always ignored')) return undefined;
  const { appid, id } = event.identity;
  const isElsewhere = typeof appid === 'string' && !watcher.owns(appid);
  if (isElsewhere) return event;
  if (appid !== undefined && id !== undefined)
    return { ...event, whole: true, identity: { organizationid: ORGANIZATION, ...event.identity } };
  return wholeAsOf(world, event, 'a move that was read late');
}
