import type { mongo } from 'mongoose';
import type { Follower } from './change.js';

const WHOLE = '$fullDocument';
const CHANGED = '$updateDescription.updatedFields';
const LOST = ['drop', 'rename', 'dropDatabase', 'invalidate'];
/** Bytes of BSON; a document with a larger `_id` is nobody's. */
const LARGEST_KEY = 1024;
/** The same of what would be told of a change: more is nothing that the service has written. */
const LARGEST_TOLD = 8 * 1024;

/**
 * The stages behind `$changeStream`: changes of the followed collections, and of each only a few bytes, so that a reply holds
 * all that there is. What is larger is told without its `_id` and its values. The first stage goes by names alone, so that
 * MongoDB passes over the rest of the log without making events of it.
 */
export function controlPipeline(followers: Pick<Follower, 'collection' | 'told'>[]): mongo.Document[] {
  const names = [...new Set(followers.map(({ collection }) => collection))];
  const telling = followers.filter(({ told }) => told.length > 0);
  const fields = [...new Set(telling.flatMap(({ told }) => told))];
  const isTelling = { $in: ['$ns.coll', telling.map(({ collection }) => collection)] };
  const isSmall = (path: string, most: number) => ({ $lte: [{ $bsonSize: path }, most] });
  const areSmall = { $and: [isSmall(WHOLE, LARGEST_TOLD), isSmall(CHANGED, LARGEST_TOLD)] };
  const isTold = { $or: [{ $not: [isTelling] }, areSmall] };
  const valuesAt = (path: string) => ({
    $cond: [
      { $and: [isTelling, areSmall] },
      Object.fromEntries(fields.map((name) => [name, `${path}.${name}`])),
      '$$REMOVE',
    ],
  });
  return [
    { $match: { $or: [{ 'ns.coll': { $in: names } }, { operationType: { $in: LOST } }] } },
    {
      $project: {
        ...{ operationType: 1, wallTime: 1, 'ns.coll': 1, 'to.coll': 1 },
        id: {
          $cond: [{ $and: [isTold, isSmall('$documentKey', LARGEST_KEY)] }, '$documentKey._id', '$$REMOVE'],
        },
        whole: valuesAt(WHOLE),
        changed: valuesAt(CHANGED),
        removed: { $setIntersection: [{ $ifNull: ['$updateDescription.removedFields', []] }, fields] },
      },
    },
  ];
}
