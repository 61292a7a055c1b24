/** A number of steps, or of ways to continue: a constant, plus a number per character of the text. Faster growth is Infinity. */
export interface Growth {
  once: number;
  perCharacter: number;
}

export const ONE: Growth = { once: 1, perCharacter: 0 };
export const ZERO: Growth = { once: 0, perCharacter: 0 };
export const PER_CHARACTER: Growth = { once: 1, perCharacter: 1 };
export const ENDLESS: Growth = { once: Infinity, perCharacter: Infinity };

export function times(count: number): Growth {
  return { once: count, perCharacter: 0 };
}

export function sum(...several: Growth[]): Growth {
  return several.reduce((one, other) => ({
    once: one.once + other.once,
    perCharacter: one.perCharacter + other.perCharacter,
  }));
}

/** Quadratic growth, or a number that is not finite, counts as endless. */
export function product(one: Growth, other: Growth): Growth {
  if (isNone(one) || isNone(other)) return ZERO;
  const once = one.once * other.once;
  const perCharacter = one.once * other.perCharacter + one.perCharacter * other.once;
  const isEndless = one.perCharacter * other.perCharacter > 0 || !Number.isFinite(once + perCharacter);
  return isEndless ? ENDLESS : { once, perCharacter };
}

export function greater(one: Growth, other: Growth): Growth {
  return {
    once: Math.max(one.once, other.once),
    perCharacter: Math.max(one.perCharacter, other.perCharacter),
  };
}

export function isSingle({ once, perCharacter }: Growth): boolean {
  return once <= 1 && perCharacter === 0;
}

export function isConstant({ perCharacter }: Growth): boolean {
  return perCharacter === 0;
}

function isNone({ once, perCharacter }: Growth): boolean {
  return once === 0 && perCharacter === 0;
}
