import type { mongo } from 'mongoose';

/** The ids that running mirrors have read from their files. It has no index but that of `_id`, by which all is found. */
export const IMPORTS = 'tidemark.imports';

/** An id in the file of a mirror. */
export interface SeenId {
  _id: { run: mongo.ObjectId; id: string };
}
