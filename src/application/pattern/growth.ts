/** Steps, or ways to go on: so many once, and so many for each character of the text. More than that is Infinity. */
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

/** What grows with the square of the text, or beyond all numbers, is endless. */
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

function isNone({ once, perCharacter }: Growth): boolean {
  return once === 0 && perCharacter === 0;
}
