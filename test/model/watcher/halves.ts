import { withTold } from '../../../src/replication/ledger/identity.js';
import type { WrittenEvent } from '../../../src/replication/log/watched-event.js';
import type { KindEvent } from '../../../src/replication/watcher/rules/decide.js';
import type { Knowledge } from '../../../src/replication/watcher/rules/knowledge.js';
import type { SeenOwned, SeenOwning } from './knowledge.js';
import { isGone } from '../service/view.js';
import { ORGANIZATION } from '../world/documents.js';
import { toldId } from '../world/events.js';
import type { ModelWatcher } from './watcher.js';

/**
 * The events as one loop sees them: a record that comes to another loop's application is gone for this one. What is told only in
 * part is completed from what this loop knows. Where it does not know the record, a plain update is about another loop's, and
 * a move is read as of the event.
 */
export function ownHalves(
  watcher: ModelWatcher,
  events: KindEvent[],
  { owned, partials }: Pick<Knowledge, 'partials'> & { owned: SeenOwned },
): KindEvent[] {
  const { world } = watcher;
  const standing = new Map<string, string | undefined>();
  const named = new Set<string>();
  return events.flatMap((event): KindEvent[] => {
    if (event.type === 'announced') return watcher.owns(event.mark.appid) ? [event] : [];
    if (event.type === 'tombstone') return [event];
    const key = String(event.owner);
    const known = owned.get(key) ?? [];
    const before = standing.has(key) ? standing.get(key) : (partials.get(key)?.appid ?? known[0]?.appid);
    if (event.type === 'deleted') {
      standing.set(key, undefined);
      named.add(key);
      return [event];
    }
    const isMove = Object.keys(event.identity).length > 0;
    const isUncertain = !named.has(key) && isUncertainBehind(watcher, event, { known, partials });
    const isDoubtful =
      before === undefined || (!named.has(key) && known.length > 1) || (isMove && isUncertain);
    const told = event.whole || !isDoubtful ? event : readAsOf(watcher, event, known.length > 1);
    if (event.whole || isDoubtful || !isUncertain) named.add(key);
    if (told === undefined) return [];
    const appid = told.identity.appid ?? before;
    const isOwn = typeof appid === 'string' && watcher.owns(appid);
    standing.set(key, isOwn ? appid : undefined);
    if (isOwn) return [told];
    if (world.has('a move not taken by halves')) return [];
    const { at, place, kind, owner } = event;
    return [{ type: 'deleted', at, place, kind, owner }];
  });
}

/** Whether more than the event may be in what is known: a look was ahead of it, or a late write remembered what a number waits for. */
function isUncertainBehind(
  { world }: ModelWatcher,
  { owner, place }: WrittenEvent,
  { known, partials }: { known: SeenOwning[]; partials: Knowledge['partials'] },
): boolean {
  const isLooked = known.some(({ seen = '' }) => seen > place);
  return isLooked || (partials.has(String(owner)) && !world.has('what a number waits for completes a move'));
}

/**
 * As a whole: as the record was at that very time, or as it is where the server does not hold that moment any more. Its stamp is
 * read with it: a pass over one application after the other may have missed a record that moved meanwhile, with a bad stamp.
 */
function readAsOf(
  { world }: ModelWatcher,
  event: WrittenEvent,
  isAmbiguous: boolean,
): WrittenEvent | undefined {
  const isMove = Object.keys(event.identity).length > 0;
  if (!isAmbiguous && (!isMove || world.has('unknown owner always ignored'))) return undefined;
  const { records } = isGone(world) ? world.database.now : world.database.asOf(event.at);
  const record = records.get(String(event.owner));
  if (record === undefined) return undefined;
  const present = { organizationid: ORGANIZATION, appid: record.appid, ...toldId(record) };
  const stamp = event.stamp === undefined ? (record.lastupdated ?? null) : event.stamp;
  const isLeft = stamp === undefined || world.has('a move read without its stamp');
  return {
    ...event,
    whole: true,
    identity: withTold(present, event.identity),
    ...(!isLeft && { stamp }),
  };
}
