import { Long } from 'mongodb';

interface ExactJson {
  isRawJSON?: (value: unknown) => value is { rawJSON: string };
}

const { isRawJSON }: ExactJson = JSON as ExactJson;

/**
 * An item's value with 64-bit integers in place of what `parseExactly` kept as text. A longer number is a double; what another
 * `parse` has made, such as a date, stays.
 */
export function wholeNumbersIn(value: unknown): unknown {
  if (isRawJSON === undefined || typeof value !== 'object' || value === null) return value;
  if (isRawJSON(value)) return numberOf(value.rawJSON);
  if (Array.isArray(value)) return value.map(wholeNumbersIn);
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, wholeNumbersIn(part)]));
}

function numberOf(text: string): Long | number {
  const whole = BigInt(text);
  return BigInt.asIntN(64, whole) === whole ? Long.fromBigInt(whole) : Number(text);
}
