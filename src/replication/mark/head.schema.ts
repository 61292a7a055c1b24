import { Schema } from 'mongoose';
import type { StoredHead } from './head.js';

/** Name of the collection. */
export const HEADS = 'tidemark.heads';

/** Name of the Mongoose model of `tidemark.heads`. */
export const HEAD_MODEL = 'Head';

export const headSchema = new Schema<StoredHead>(
  { _id: Object },
  { collection: HEADS, strict: false, versionKey: false },
);
