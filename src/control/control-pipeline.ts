import type { mongo } from 'mongoose';
import type { Follower } from './change.js';

const LOST = ['drop', 'rename', 'dropDatabase', 'invalidate'];
/** Bytes of BSON; a document with a larger `_id` is nobody's, and is not told by name. */
const LARGEST_KEY = 1024;

/**
 * The stages behind `$changeStream`: changes of the followed collections, and of each only a few bytes. The first stage
 * goes by names alone, so that MongoDB passes over the rest of the log without making events of it.
 */
export function controlPipeline(followers: Pick<Follower, 'collection' | 'told'>[]): mongo.Document[] {
  const names = [...new Set(followers.map(({ collection }) => collection))];
  const telling = followers.filter(({ told }) => told.length > 0);
  const fields = [...new Set(telling.flatMap(({ told }) => told))];
  const isTelling = { $in: ['$ns.coll', telling.map(({ collection }) => collection)] };
  const valuesAt = (path: string) => ({
    $cond: [isTelling, Object.fromEntries(fields.map((name) => [name, `${path}.${name}`])), '$$REMOVE'],
  });
  return [
    { $match: { $or: [{ 'ns.coll': { $in: names } }, { operationType: { $in: LOST } }] } },
    {
      $project: {
        ...{ operationType: 1, wallTime: 1, 'ns.coll': 1, 'to.coll': 1 },
        id: {
          $cond: [{ $lte: [{ $bsonSize: '$documentKey' }, LARGEST_KEY] }, '$documentKey._id', '$$REMOVE'],
        },
        whole: valuesAt('$fullDocument'),
        changed: valuesAt('$updateDescription.updatedFields'),
        removed: { $setIntersection: [{ $ifNull: ['$updateDescription.removedFields', []] }, fields] },
      },
    },
  ];
}
