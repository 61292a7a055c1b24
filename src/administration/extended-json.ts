import mongoose from 'mongoose';

const { EJSON, Long } = mongoose.mongo.BSON;

/** Relaxed extended JSON, but with all digits of whole numbers that JSON would round: those stay `$numberLong`. */
export function extendedJson(value: unknown): unknown {
  return EJSON.serialize(exact(value), { relaxed: true });
}

function exact(value: unknown): unknown {
  if (typeof value === 'bigint' || Long.isLong(value)) return isSafe(value) ? value : long(value);
  if (Array.isArray(value)) return value.map(exact);
  if (!isDocument(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, exact(inner)]));
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
