import type { Model } from 'mongoose';
import { type Mark, markName } from './mark.js';

/** The fence that the stream has passed, by the name of the mark. */
export type Fences = Map<string, Date>;

/** The marks as they stand: later ones than the stream has passed can only make more stamps anew, never fewer. */
export async function readFences(marks: Model<Mark>): Promise<Fences> {
  const found = await marks.find().lean();
  return new Map(found.map(({ _id, fence }) => [markName(_id), fence]));
}
