import { Long } from 'mongodb';
import { exactDigits } from '../parse-exactly.js';
import { assertWhole } from './well-formed.js';

/**
 * An item's value with 64-bit integers in place of what `parseExactly` kept as text. A longer number is a double; what another
 * `parse` has made, such as a date, stays. Throws a RangeError for a text with half of a surrogate pair, and for a number
 * beyond every double, which BSON has no form for.
 */
export function wholeNumbersIn(value: unknown): unknown {
  if (typeof value === 'string') return assertWhole(value);
  if (typeof value !== 'object' || value === null) return value;
  const digits = exactDigits(value);
  if (digits !== undefined) return numberOf(digits);
  if (Array.isArray(value)) return value.map(wholeNumbersIn);
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [assertWhole(name), wholeNumbersIn(part)]),
  );
}

function numberOf(text: string): Long | number {
  if (!Number.isFinite(Number(text))) throw new RangeError('a number is beyond what a double holds');
  const whole = BigInt(text);
  return BigInt.asIntN(64, whole) === whole ? Long.fromBigInt(whole) : Number(text);
}
