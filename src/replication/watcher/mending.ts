import { mongo } from 'mongoose';
import { FUTURE_TOLERANCE_MS } from '../../database/index.js';
import { emailKeyOf } from '../../member/index.js';
import type { Kind } from '../../record/index.js';

/** A record as it stands, with the fields that the watcher looks after; each may be of any type. */
export interface PresentRecord {
  _id: unknown;
  organizationid?: unknown;
  appid?: unknown;
  id?: unknown;
  lastupdated?: unknown;
  emailkey?: unknown;
  email?: unknown;
  channels?: unknown;
}

/** What a look at the records showed. */
export interface Look {
  records: PresentRecord[];
  /** The database's clock then. */
  clock: Date;
  /** The cluster time of what led to the look: it was not before. */
  at: mongo.Timestamp;
}

/** The projection of {@link PresentRecord}. */
export const PRESENT = {
  organizationid: 1,
  appid: 1,
  id: 1,
  lastupdated: 1,
  emailkey: 1,
  email: '$data.email',
  channels: 1,
};

/** What a record lacks of what contract §2 and §4 promise. */
export interface Mending {
  /** It has no `id`, or one that is no text. */
  id: boolean;
  /** Its `lastupdated` is missing, no date, or more than a second in the future. */
  stamp: boolean;
  /** The `emailkey` it should have; `null` where it should have none. Absent where it fits. */
  emailkey?: string | null;
}

/** Whether a record can be delivered at all; what cannot is counted, never mended (contract §4). */
export function isDeliverable(record: PresentRecord): record is PresentRecord & DeliverableFields {
  return (
    record._id instanceof mongo.ObjectId &&
    typeof record.organizationid === 'string' &&
    typeof record.appid === 'string'
  );
}

interface DeliverableFields {
  _id: mongo.ObjectId;
  organizationid: string;
  appid: string;
}

/** What there is to mend in a deliverable record; nothing where all is well. */
export function mendingOf(kind: Kind, record: PresentRecord, clock: Date): Mending | undefined {
  const mending: Mending = {
    id: typeof record.id !== 'string',
    stamp: !isGoodStamp(record.lastupdated, clock),
  };
  if (kind === 'member') {
    const wanted = emailKeyOf(record.email) ?? null;
    if (wanted !== (record.emailkey ?? null)) mending.emailkey = wanted;
  }
  return mending.id || mending.stamp || mending.emailkey !== undefined ? mending : undefined;
}

function isGoodStamp(stamp: unknown, clock: Date): boolean {
  return stamp instanceof Date && stamp.getTime() <= clock.getTime() + FUTURE_TOLERANCE_MS;
}
