import type { Random } from './random.js';

/**
 * What another program does with `lastupdated`: writes the right one, its own from a clock that is ten minutes fast or
 * slow, an hour-old one, a made-up one, one far in the future, a text; removes it, or leaves what stands there.
 * `server` is `$currentDate`.
 */
export type Stamp =
  | 'right'
  | 'fast'
  | 'slow'
  | 'old'
  | 'fake'
  | 'future'
  | 'text'
  | 'none'
  | 'kept'
  | 'server';

const INSERTED: Record<Exclude<Stamp, 'kept' | 'server'>, number> = {
  right: 4,
  fast: 1,
  slow: 1,
  old: 1,
  fake: 1,
  future: 1,
  text: 1,
  none: 2,
};

const UPDATED: Record<Stamp, number> = { ...INSERTED, kept: 4, server: 2 };

export function insertedStamp(random: Random): Stamp {
  return random.weighted(INSERTED);
}

export function updatedStamp(random: Random): Stamp {
  return random.weighted(UPDATED);
}
