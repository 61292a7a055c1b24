import mongoose, { type mongo } from 'mongoose';

/** A change of one document, as the control stream reports it. */
export interface ControlChange {
  /**
   * The document's `_id`; absent if it, or a change whose values are reported, is too large, or if only a part of a
   * reported value has changed.
   */
  id?: unknown;
  what: 'insert' | 'replace' | 'update' | 'delete';
  /** Values of the reported fields: for an update only of those that changed, otherwise of all in the document. */
  fields: mongo.Document;
  /** The reported fields that an update removed. */
  removed: string[];
}

/** A subscriber to the changes of one collection. */
export interface Follower {
  readonly collection: string;
  /** The top-level fields whose values are reported. If empty, changes are reported with their `_id` only. */
  readonly reported: readonly string[];
  /** Called for each change, in log order. */
  hear(change: ControlChange): void;
  /** Called when the stream has begun: what was read before may be outdated. */
  begun?(): void;
  /**
   * Invalidates everything that was heard or read before: the stream has ended, or the collection was dropped or
   * renamed.
   */
  forget(): void;
}

/** One event of the stream: a change of a document, or the loss of a collection's or the stream's history. */
type ControlEvent =
  | { type: 'changed'; collection: string; change: ControlChange }
  | { type: 'lost'; collections: string[] }
  | { type: 'ended' };

/** A map key for any `_id`; undefined for a document that the BSON library mistakes for one of its types. */
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
/** Maximum size of a reported `_id`, in bytes of BSON. */
const LARGEST_KEY = 1024;
/** Maximum size of a change whose values are reported, in bytes of BSON. The service writes no larger ones. */
const LARGEST_TOLD = 8 * 1024;

/**
 * Whether an update is reported by places within these fields, as that of a pipeline is: `restores.1` for an element that
 * was added to the list `restores`. The value of the field is not reported then.
 */
function changesPartOf(fields: string[]): mongo.Document {
  const places = {
    $concatArrays: [
      { $map: { input: { $objectToArray: { $ifNull: [CHANGED, {}] } }, in: '$$this.k' } },
      { $ifNull: ['$updateDescription.removedFields', []] },
      {
        $map: {
          input: { $ifNull: ['$updateDescription.truncatedArrays', []] },
          in: { $concat: ['$$this.field', '.'] },
        },
      },
    ],
  };
  const field = { $arrayElemAt: [{ $split: ['$$this', '.'] }, 0] };
  const isWithin = { $and: [{ $in: [field, fields] }, { $not: [{ $in: ['$$this', fields] }] }] };
  return { $anyElementTrue: [{ $map: { input: places, in: isWithin } }] };
}

/**
 * The stages after `$changeStream`. They pass the changes of the followed collections, reduced to the `_id` and the
 * reported fields, so that one reply can hold many. Of a change above LARGEST_TOLD in a collection with reported
 * fields, and of a change of a part of such a field, neither the `_id` nor the values are reported. The first stage
 * matches only names and types of operations, so that MongoDB skips the rest of the log without creating events.
 */
export function controlPipeline(followers: Pick<Follower, 'collection' | 'reported'>[]): mongo.Document[] {
  const names = [...new Set(followers.map(({ collection }) => collection))];
  const reporting = followers.filter(({ reported }) => reported.length > 0);
  const fields = [...new Set(reporting.flatMap(({ reported }) => reported))];
  const hasFields = { $in: ['$ns.coll', reporting.map(({ collection }) => collection)] };
  const isSmall = (path: string, most: number) => ({ $lte: [{ $bsonSize: path }, most] });
  const areSmall = { $and: [isSmall(WHOLE, LARGEST_TOLD), isSmall(CHANGED, LARGEST_TOLD)] };
  const areWhole = { $not: [changesPartOf(fields)] };
  const isReported = { $or: [{ $not: [hasFields] }, { $and: [areSmall, areWhole] }] };
  const valuesAt = (path: string) => ({
    $cond: [
      { $and: [hasFields, areSmall] },
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
          $cond: [
            { $and: [isReported, isSmall('$documentKey', LARGEST_KEY)] },
            '$documentKey._id',
            '$$REMOVE',
          ],
        },
        whole: valuesAt(WHOLE),
        changed: valuesAt(CHANGED),
        removed: { $setIntersection: [{ $ifNull: ['$updateDescription.removedFields', []] }, fields] },
      },
    },
  ];
}
