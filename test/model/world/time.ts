import mongoose, { type mongo } from 'mongoose';
import { type LogPlace, placeAfter } from '../../../src/replication/protocol/place.js';

/** When the wall clock of every world begins (milliseconds). */
export const ORIGIN = Date.parse('2026-11-20T10:00:00.000Z');

/** Before everything. */
export const NEVER = timestamp(0, 0);

/** After everything. */
export const FOREVER = timestamp(2 ** 32 - 1, 0);

export function timestamp(seconds: number, counter: number): mongo.Timestamp {
  return new mongoose.mongo.Timestamp({ t: seconds, i: counter });
}

/** The cluster time just before: what lies at or before it lies before `at`. */
export function justBefore(at: mongo.Timestamp): mongo.Timestamp {
  return timestamp(at.getHighBitsUnsigned(), at.getLowBitsUnsigned() - 1);
}

/** The place of an event in its transaction. */
export function placeIn(at: mongo.Timestamp, number: number): LogPlace {
  return placeAfter(at).slice(0, -1) + String(number).padStart(4, '0');
}

export function laterOf(one: mongo.Timestamp, other: mongo.Timestamp | undefined): mongo.Timestamp {
  return other === undefined || one.compare(other) >= 0 ? one : other;
}
