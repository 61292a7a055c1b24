import { isObjectId } from '../../../record/pure.js';
import type { PartialIdentity, StoredIdentity } from '../../ledger/pure.js';
import { isIn, type AppShare } from '../../progress/pure.js';
import type { KindEvent } from './decide.js';
import type { Knowledge } from './knowledge.js';
import { knownOf, storedAfter, touchesIdentity } from './learn.js';

/**
 * The events of a batch as a loop with a part of the applications sees them (design §10). The knowledge is that of its share, and
 * an event of which that completes nothing has been read as a whole. A record that leaves the share is deleted in it, and one that
 * comes to it is written. Updates and deletes of records that the share does not know are left out: they are in another share.
 */
export function ownHalves(
  events: KindEvent[],
  { owned, partials, tombstones }: Pick<Knowledge, 'owned' | 'partials' | 'tombstones'>,
  share: AppShare,
): KindEvent[] {
  const standing = new Map<string, PartialIdentity | StoredIdentity | undefined>();
  return events.flatMap((event): KindEvent[] => {
    if (event.type === 'announced') return isIn(share, event.mark) ? [event] : [];
    if (event.type === 'tombstone') {
      const identity = tombstones.get(event.entry.toHexString());
      return identity !== undefined && isIn(share, identity) ? [event] : [];
    }
    if (!isObjectId(event.owner)) return 'only' in share ? [] : [event];
    const key = event.owner.toHexString();
    const before = standing.has(key) ? standing.get(key) : knownOf(key, { owned, partials });
    if (event.type === 'deleted') {
      standing.set(key, undefined);
      return before === undefined ? [] : [event];
    }
    if (before === undefined && !touchesIdentity(event)) return [];
    const now = storedAfter(event, before);
    const isOwn = isIn(share, now);
    standing.set(key, isOwn ? now : undefined);
    if (isOwn) return [event];
    const { at, place, kind, owner } = event;
    return before === undefined ? [] : [{ type: 'deleted', at, place, kind, owner }];
  });
}
