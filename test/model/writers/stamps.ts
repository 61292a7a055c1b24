import { nextStamp } from '../twins/stamp.js';
import type { Dice, Weights } from '../random/dice.js';

/**
 * What a writer makes of `lastupdated`: the service's own writers give the `next`; others leave it, omit it, or give a
 * time of their own: their clock's now, the past, a little ahead (within the tolerance), or the future.
 */
export type StampChoice = 'next' | 'leave' | 'omit' | 'now' | 'past' | 'ahead' | 'future';

export const ANY_STAMPING: Weights<StampChoice> = {
  next: 3,
  leave: 3,
  omit: 1,
  now: 2,
  past: 2,
  ahead: 0.5,
  future: 0.5,
};

/** The stamp before, and the clock when the write began, make the stamp after; nothing where it is left out. */
export type GiveStamp = (before: Date | undefined, clock: Date) => Date | undefined;

/** Decides now what the stamp will be when the write is committed. */
export function planStamp(dice: Dice, weights: Weights<StampChoice>): GiveStamp {
  const stamping = dice.weighted(weights);
  const distance = dice.pick([0, 1, 2, 10, 1000]);
  switch (stamping) {
    case 'next':
      return nextStamp;
    case 'leave':
      return (before) => before;
    case 'omit':
      return () => undefined;
    case 'now':
      return (_before, clock) => clock;
    case 'past':
      return (_before, clock) => moved(clock, -distance);
    case 'ahead':
      return (_before, clock) => moved(clock, Math.min(distance, 900));
    case 'future':
      return (_before, clock) => moved(clock, 1000 + 5 * distance);
  }
}

function moved(date: Date, milliseconds: number): Date {
  return new Date(date.getTime() + milliseconds);
}
