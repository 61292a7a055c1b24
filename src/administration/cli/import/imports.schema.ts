import type { mongo } from 'mongoose';

/** The ids that running mirrors have read from their files. Its only index is that of `_id`, which every query uses. */
export const IMPORTS = 'tidemark.imports';

/** An id in the file of a mirror. */
export interface SeenId {
  _id: { run: mongo.ObjectId; id: string };
}
