import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { atMost } from '../common/index.js';

const MINUTE_MS = 60_000;
/** Most keys that are kept, the most recently used ones: this bounds the memory for keys that clients choose. */
const REMEMBERED = 50_000;
const KEY_LENGTH = 22;

/** How often something happened in a minute, and in how many seconds that minute is over. */
export interface Count {
  count: number;
  secondsLeft: number;
}

/** Counts by key, each in a minute of its own that begins with the first. Keys may have any length; none is kept. */
export class MinuteCounts {
  private readonly minutes = new LRUCache<string, { count: number; ends: number }>(atMost(REMEMBERED));

  count(key: string): Count {
    const now = performance.now();
    const minute = this.minutes.get(shortened(key));
    return minute === undefined || minute.ends <= now
      ? { count: 0, secondsLeft: MINUTE_MS / 1000 }
      : { count: minute.count, secondsLeft: (minute.ends - now) / 1000 };
  }

  /** The count with this one. */
  add(key: string, times = 1): Count {
    const { count, secondsLeft } = this.count(key);
    const counted = { count: Math.max(0, count + times), secondsLeft };
    const ends = performance.now() + secondsLeft * 1000;
    this.minutes.set(shortened(key), { count: counted.count, ends });
    return counted;
  }

  get size(): number {
    return this.minutes.size;
  }
}

function shortened(key: string): string {
  return hash('sha256', key, 'base64url').slice(0, KEY_LENGTH);
}
