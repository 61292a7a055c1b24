import type { mongo } from 'mongoose';

/** Name of the collection. */
export const REVIEWS = 'tidemark.reviews';

/** The progress, of which collection of channels, and how far; done without `behind`. */
export interface Review {
  _id: 'channels';
  collection: string | null;
  behind?: mongo.ObjectId;
}
