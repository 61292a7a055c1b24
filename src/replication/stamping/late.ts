import { mongo } from 'mongoose';

/** Why a stamp is looked at: bad in itself, at or below the fence, or left alone by a change. */
export type Reason = 'bad' | 'late' | 'left';

/** A record or tombstone to be stamped anew, if its stored stamp is still bad or not above the fence. */
export interface Late {
  _id: mongo.ObjectId;
  fence?: Date;
  reason: Reason | 'tombstone';
}
