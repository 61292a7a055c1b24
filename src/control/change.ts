import mongoose, { type mongo } from 'mongoose';

/** A change of one document, as the control stream tells it. */
export interface ControlChange {
  /** The document's `_id`; absent where it is too large to be told. */
  id?: unknown;
  what: 'insert' | 'replace' | 'update' | 'delete';
  /** Values of the fields that are told: of the whole document, or, of an update, those that changed. */
  fields: mongo.Document;
  /** Which of these fields an update removed. */
  removed: string[];
}

/** Somebody who goes by the changes of one collection. */
export interface Follower {
  readonly collection: string;
  /** The top-level fields whose values are told; without them only whose change it was. */
  readonly told: readonly string[];
  /** Called for each change, in the order of the log. */
  hear(change: ControlChange): void;
  /** Nothing that was heard or read before counts any more: the stream began anew, or the collection is another one. */
  forget(): void;
}

/** What one event of the stream says: a change of a document, or that a collection is not what it was. */
type ControlEvent =
  | { type: 'changed'; collection: string; change: ControlChange }
  | { type: 'lost'; collections: string[] }
  | { type: 'ended' };

/** A name for maps of whatever may be an `_id`; nothing for a document that the library takes for a type that it is not. */
export function idName(id: unknown): string | undefined {
  if (id instanceof mongoose.mongo.ObjectId) return id.toHexString();
  try {
    return mongoose.mongo.BSON.EJSON.stringify({ id }, { relaxed: false });
  } catch {
    return undefined;
  }
}

const CHANGES = new Set(['insert', 'replace', 'update', 'delete']);
const ENDS = new Set(['dropDatabase', 'invalidate']);

/** Parses one event of the control pipeline; undefined for irrelevant ones, such as new indexes. */
export function controlEvent(raw: mongo.Document): ControlEvent | undefined {
  const what = String(raw['operationType']);
  const [collection, target] = [collectionIn(raw['ns']), collectionIn(raw['to'])];
  if (ENDS.has(what)) return { type: 'ended' };
  if (what === 'drop' || what === 'rename')
    return { type: 'lost', collections: [collection, target].filter((name) => name !== '') };
  if (!CHANGES.has(what)) return undefined;
  const change: ControlChange = {
    ...('id' in raw && { id: raw['id'] as unknown }),
    what: what as ControlChange['what'],
    fields: (raw[what === 'update' ? 'changed' : 'whole'] ?? {}) as mongo.Document,
    removed: (raw['removed'] ?? []) as string[],
  };
  return { type: 'changed', collection, change };
}

function collectionIn(namespace: unknown): string {
  return (namespace as { coll?: string } | undefined)?.coll ?? '';
}

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
