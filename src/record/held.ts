import type { mongo } from 'mongoose';
import { isTimeout } from '../platform/database/plain.js';

/**
 * How long a write may take before it counts as blocked by a transaction of another program (milliseconds): a write of
 * one record, and a write of several, with an addition for each. The limit for several is short, because a blocked
 * write of several is split and repeated.
 */
const ALONE_MS = 2000;
const TOGETHER_MS = 200;
const FOR_EACH_MS = 2;
/** After this time, the records of a blocked part are no longer tried one by one (milliseconds). */
export const LONGEST_SEARCH_MS = 5000;
const PARTS = 10;
/**
 * For this time after a held record was found, single records get the short limit too, because there may be hundreds
 * (milliseconds).
 */
const REMEMBERED_MS = 10_000;

let lastHeld = -Infinity;

/**
 * Records that were not written, because transactions of other programs hold them or other records of the same part of
 * the bulk. All others were written.
 */
export class RecordsHeldError extends Error {
  constructor(readonly ids: mongo.ObjectId[]) {
    super(`A transaction of another program holds ${ids.length === 1 ? 'the record' : 'the records'}`);
  }
}

/**
 * Writes the items of a bulk, and returns those that are held. A bulk that is blocked is split until the held items
 * are found. From `end` on (of `performance.now()`), all items of a blocked part count as held. Repeating a write must
 * do no harm.
 */
export async function writeUnlessHeld<T>(
  items: T[],
  write: (some: T[], maxTimeMS: number) => Promise<void>,
  end = performance.now() + LONGEST_SEARCH_MS,
): Promise<T[]> {
  const held: T[] = [];
  const attempt = async (some: T[]): Promise<void> => {
    try {
      const isFirst = some.length === 1 && performance.now() - lastHeld > REMEMBERED_MS;
      await write(some, isFirst ? ALONE_MS : TOGETHER_MS + FOR_EACH_MS * some.length);
    } catch (error) {
      if (!isTimeout(error)) throw error;
      if (some.length === 1 || performance.now() > end) {
        lastHeld = performance.now();
        return void held.push(...some);
      }
      const size = Math.ceil(some.length / PARTS);
      for (let start = 0; start < some.length; start += size) {
        await attempt(some.slice(start, start + size));
      }
    }
  };
  await attempt(items);
  return held;
}
