import { isObjectId } from '../../../record/pure.js';
import { isWritten, type WrittenEvent } from '../../log/pure.js';
import { isKnownBefore, type Knowledge } from './knowledge.js';

/** The events whose record has to be read as of the event: of what they do not tell, too little or too much is known. */
export function unnamedAmong(
  events: { type: string }[],
  knowledge: Pick<Knowledge, 'owned' | 'partials'>,
): WrittenEvent[] {
  const named = new Set<string>();
  return events.filter(isWritten).filter((event) => {
    if (!isObjectId(event.owner)) return false;
    const key = event.owner.toHexString();
    const isKnown = named.has(key) || isKnownBefore(event.place, key, knowledge);
    named.add(key);
    return !event.whole && (!isKnown || isRemoving(event));
  });
}

/** Whether the event may have removed a field of the identity. */
function isRemoving({ identity }: WrittenEvent): boolean {
  return Object.values(identity).includes(false);
}
