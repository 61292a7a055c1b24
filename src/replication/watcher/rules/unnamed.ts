import { isObjectId } from '../../../record/pure.js';
import { isWritten, type WrittenEvent } from '../../log/pure.js';
import { isKnownBefore, type Knowledge } from './knowledge.js';
import { touchesIdentity } from './learn.js';

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

/** Whether the event may have removed a field of the identity. */
function isRemoving({ identity }: WrittenEvent): boolean {
  return Object.values(identity).includes(false);
}
