/** The `find` of a page, as any client would ask it and as the service does. */
import mongoose from 'mongoose';
import { idAt, stampAt, TENANT } from '../data/products.mjs';

const { ObjectId } = mongoose.mongo;

export const PAGE = 1000;
const BOUNDS = new Set(['$gt', '$gte']);
const OF_THE_CONNECTION = ['lsid', '$clusterTime'];

/** The page behind a place in `_id` order, in the least words. */
export function pageFind(start, { database, items }) {
  return {
    find: 'products',
    filter: { ...TENANT, lastupdated: { $lte: stampAt(items) }, _id: { $gt: new ObjectId(idAt(start - 1)) } },
    hint: { organizationid: 1, appid: 1, _id: 1 },
    sort: { _id: 1 },
    limit: PAGE,
    batchSize: PAGE,
    singleBatch: true,
    $db: database,
  };
}

/** What the service itself asked for a page, from the profiler of the database, for the page behind another place. */
export function movedTo(start, command) {
  const asked = Object.entries(command).filter(([name]) => !OF_THE_CONNECTION.includes(name));
  return moved(Object.fromEntries(asked), new ObjectId(idAt(start - 1)));
}

function moved(value, id) {
  if (Array.isArray(value)) return value.map((one) => moved(one, id));
  if (typeof value !== 'object' || value === null || '_bsontype' in value || value instanceof Date)
    return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, movedField(key, inner, id)]));
}

function movedField(key, value, id) {
  const isLowerBound = BOUNDS.has(key) && value instanceof ObjectId;
  return isLowerBound ? id : moved(value, id);
}
