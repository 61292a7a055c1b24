import type { mongo } from 'mongoose';
import type { Stamp } from '../plan/index.js';

const MINUTE = 60_000;

/** Something to `$set`, and what a stamp adds to it. */
export function stamped(set: mongo.Document, stamp: Stamp, field = 'lastupdated'): mongo.Document {
  if (stamp === 'kept') return { $set: set };
  if (stamp === 'none') return { $set: set, $unset: { [field]: '' } };
  if (stamp === 'server') return { $set: set, $currentDate: { [field]: true } };
  return { $set: { ...set, ...stampField(stamp, field) } };
}

/** The field of the stamp of a new record. */
export function stampField(stamp: Stamp, field = 'lastupdated'): mongo.Document {
  const value = stampValue(stamp);
  return value === undefined ? {} : { [field]: value };
}

function stampValue(stamp: Stamp): Date | string | undefined {
  const now = Date.now();
  switch (stamp) {
    case 'right':
    case 'kept':
    case 'server':
      return new Date(now);
    case 'fast':
      return new Date(now + 10 * MINUTE);
    case 'slow':
      return new Date(now - 10 * MINUTE);
    case 'old':
      return new Date(now - 60 * MINUTE);
    case 'fake':
      return new Date('2001-02-03T04:05:06.789Z');
    case 'future':
      return new Date('2999-12-31T00:00:00.000Z');
    case 'text':
      return new Date(now).toISOString();
    case 'none':
      return undefined;
  }
}
