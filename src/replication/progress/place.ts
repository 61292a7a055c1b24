import type { mongo } from 'mongoose';

/**
 * A place in the log, as text that sorts as the log does: the cluster time in hex, then the place within the transaction,
 * whose changes all have one cluster time.
 */
export type LogPlace = string;

/** A resume token begins with a type byte; behind it its text sorts as the log does. */
const START = 2;
/** Behind the cluster time come version, type and the number within the transaction, then only names. */
const END = 42;
const BEHIND_ALL = '~';

/** Where the change is that a resume token stands for. */
export function placeOf({ _data }: { _data: string }): LogPlace {
  return _data.slice(START, END);
}

/** Behind all changes of a cluster time. */
export function placeBehind(at: mongo.Timestamp): LogPlace {
  return hexOf(at.getHighBitsUnsigned()) + hexOf(at.getLowBitsUnsigned()) + BEHIND_ALL;
}

/** Behind a place, and before the next one. */
export function rightBehind(at: LogPlace): LogPlace {
  return at + BEHIND_ALL;
}

/** A condition on what is known: true unless that is of a later place. What has no such place is older than anything. */
export function upTo(at: LogPlace): mongo.Document {
  return { $not: { $gt: at } };
}

/** The same, true only where it is of an earlier place. */
export function before(at: LogPlace): mongo.Document {
  return { $not: { $gte: at } };
}

function hexOf(number: number): string {
  return number.toString(16).toUpperCase().padStart(8, '0');
}
