import type { mongo } from 'mongoose';
import { isTimeout } from '../database/plain.js';

/**
 * How long a write may take before it counts as waiting for a transaction of another program: of a record alone, and of
 * records together, which take their time on a busy server (milliseconds).
 */
const ALONE_MS = 2000;
const TOGETHER_MS = 200;
const FOR_EACH_MS = 2;
/** After so long the records of a part that has to wait are not looked at one by one any more (milliseconds). */
const LONGEST_MS = 5000;
const PARTS = 10;
/** So long after one was held, others are not waited for alone either: there may be hundreds (milliseconds). */
const REMEMBERED_MS = 10_000;

let lastHeld = -Infinity;

/** Records that could not be written, since transactions of other programs hold them. All others were. */
export class RecordsHeldError extends Error {
  constructor(readonly ids: mongo.ObjectId[]) {
    super(`A transaction of another program holds ${ids.length === 1 ? 'the record' : 'the records'}`);
  }
}

/**
 * Writes items of a bulk, and answers those that it could not since they are held: a bulk that has to wait is cut up until
 * what is held is known, or some seconds have passed. Each write must do no harm when it is repeated.
 */
export async function writeUnlessHeld<T>(
  items: T[],
  write: (some: T[], maxTimeMS: number) => Promise<void>,
): Promise<T[]> {
  const end = performance.now() + LONGEST_MS;
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
