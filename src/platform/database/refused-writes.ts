import mongoose, { type mongo } from 'mongoose';
import { isRefusedByValidator, isUnauthorized, type Refusal, refusalsIn } from './errors.js';

/** The options of a write: none, or to bypass the validator of its collection. */
export type PastValidator = { bypassDocumentValidation?: true };

/** The update of one document, by its `_id`. */
export interface SingleWrite {
  updateOne: { filter: mongo.Document; update: mongo.Document | mongo.Document[] };
}

/** The result of single writes. */
interface Written {
  modified: number;
  /** The refused writes, in their original order. */
  refused: Refusal[];
}

const ASKED: PastValidator = {};
const BYPASSED: PastValidator = { bypassDocumentValidation: true };

/**
 * Executes a write of the service's own: a stamp or a repair. If the validator of the collection refuses it, the
 * write is repeated once with the validator bypassed. If the role lacks the right to bypass it, the refusal holds.
 */
export async function pastValidator<T>(write: (options: PastValidator) => Promise<T>): Promise<T> {
  try {
    return await write(ASKED);
  } catch (refusal) {
    if (!isRefusedByValidator(refusal)) throw refusal;
    return write(BYPASSED).catch((error: unknown) => {
      throw isUnauthorized(error) ? refusal : error;
    });
  }
}

/**
 * Executes the writes in any order, bypassing the validator if it refuses them, and returns those that were still
 * refused.
 */
export async function writeEach(
  collection: mongo.Collection,
  writes: SingleWrite[],
  bounds: { maxTimeMS?: number } = {},
): Promise<Written> {
  if (writes.length === 0) return { modified: 0, refused: [] };
  const first = await attempt(collection, writes, { ...ASKED, ...bounds });
  const again = first.refused.filter(({ isOfValidator }) => isOfValidator);
  if (again.length === 0) return first;
  const some = again.map(({ index }) => writes[index]!);
  const second = await attempt(collection, some, { ...BYPASSED, ...bounds }).catch((error: unknown) => {
    if (isUnauthorized(error)) return undefined;
    throw error;
  });
  if (second === undefined) return first;
  const others = first.refused.filter(({ isOfValidator }) => !isOfValidator);
  const still = second.refused.map((refusal) => ({ ...refusal, index: again[refusal.index]!.index }));
  const refused = [...others, ...still].sort((one, other) => one.index - other.index);
  return { modified: first.modified + second.modified, refused };
}

async function attempt(
  collection: mongo.Collection,
  writes: SingleWrite[],
  options: PastValidator & { maxTimeMS?: number },
): Promise<Written> {
  try {
    const { modifiedCount } = await collection.bulkWrite(writes, { ordered: false, ...options });
    return { modified: modifiedCount, refused: [] };
  } catch (error) {
    const refused = refusalsIn(error);
    return { modified: (error as mongoose.mongo.MongoBulkWriteError).result.modifiedCount, refused };
  }
}
