import mongoose, { type mongo } from 'mongoose';

const { Double, EJSON, Long, Timestamp } = mongoose.mongo.BSON;
const LONGS = 2 ** 63;

/** Relaxed extended JSON, but with all digits of whole numbers that JSON would round: those stay `$numberLong`. */
export function extendedJson(value: unknown): unknown {
  return EJSON.serialize(exact(value), { relaxed: true });
}

/** Whether a JSON number may have stood for another whole number of 64 bits. */
export function mayBeRounded(value: number): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < LONGS;
}

function exact(value: unknown): unknown {
  const number = value instanceof Double ? value.value : value;
  if (typeof number === 'number') return mayBeRounded(number) ? { $numberDouble: String(number) } : value;
  if (typeof value === 'bigint' || isLong(value)) return isSafe(value) ? value : long(value);
  if (Array.isArray(value)) return value.map(exact);
  if (!isDocument(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, exact(inner)]));
}

/** To the driver a timestamp is a number of 64 bits too. */
function isLong(value: unknown): value is mongo.Long {
  return Long.isLong(value) && !(value instanceof Timestamp);
}

function isSafe(value: { toString(): string }): boolean {
  return Number.isSafeInteger(Number(value.toString()));
}

function long(value: { toString(): string }): object {
  return { $numberLong: value.toString() };
}

/** Of BSON's own values none has a prototype of a plain object. */
function isDocument(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
