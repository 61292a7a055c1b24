import { type mongo, Schema } from 'mongoose';
import { CLOCK } from '../../database/plain.js';
import { FENCE_LEAD_MS, type Mark } from './mark.js';

/** Name of the collection. */
export const MARKS = 'tidemark.marks';

/** Name of the Mongoose model of `tidemark.marks`. */
export const MARK_MODEL = 'Mark';

export const markSchema = new Schema<Mark>(
  { _id: Object },
  { collection: MARKS, strict: false, versionKey: false },
);

const IS_RAISED = { $eq: [{ $type: '$fence' }, 'date'] };
const ABOVE_FENCE = { $min: [{ $add: ['$fence', 1] }, { $add: [CLOCK, FENCE_LEAD_MS] }] };
/** {@link fenceAfterRaise}, as an expression. */
const FENCE = { $max: [CLOCK, '$fence', { $cond: [IS_RAISED, ABOVE_FENCE, CLOCK] }] };

/** A raise, as an update pipeline: the fence never goes back, the text changes each time. */
export const RAISE: mongo.Document[] = [
  { $set: { fence: FENCE, raises: { $add: [{ $ifNull: ['$raises', 0] }, 1] } } },
  { $set: { announced: { $concat: [{ $toString: '$fence' }, ' ', { $toString: '$raises' }] } } },
];
