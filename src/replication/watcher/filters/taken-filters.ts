import { mongo, type Connection } from 'mongoose';
import { databaseProblem, isDuplicateKey, isRefusedQuery, isUnfit } from '../../../database/index.js';
import { TermOverError } from '../../store/index.js';
import type { Filter, ServiceKey } from '../../../application/index.js';
import { COLLECTION_OF, FIRST_ID, KINDS } from '../../../record/index.js';

/** Whether the term is over or the database is unavailable, so that the query was not answered. */
export function isOfDatabase(error: unknown): boolean {
  return error instanceof TermOverError || databaseProblem(error) !== undefined;
}

/**
 * Whether an error is not specific to the service in progress. Of the errors of the server, only rejected queries, duplicate
 * keys and writes that do not fit are specific. Any other error would occur for every service.
 */
export function isElsewhere(error: unknown): boolean {
  if (isOfDatabase(error)) return true;
  const isAboutIt = isRefusedQuery(error) || isUnfit(error) || isDuplicateKey(error);
  return error instanceof mongo.MongoServerError && !isAboutIt;
}

/** A service and the filter that it is to have. */
interface FilterOf {
  key: ServiceKey;
  filter: Filter;
}

/**
 * Whether MongoDB accepts a filter. It rejects an invalid filter when it parses the query, whether or not any document could
 * match. If it also rejects the same query without the filter, the filter is not the cause, and the error is thrown.
 */
export async function isTaken(connection: Connection, { key, filter }: FilterOf): Promise<boolean> {
  const { organizationid, appid, kind } = key;
  const nothing = { organizationid, appid, _id: FIRST_ID };
  const collection = connection.collection(COLLECTION_OF[kind]);
  try {
    await look(collection, { $and: [nothing, filter] });
    return true;
  } catch (error) {
    if (isOfDatabase(error)) throw error;
    if (!isRefusedQuery(error)) await look(collection, nothing);
    return false;
  }
}

/** Checks several filters by one query for each kind. Throws the error of MongoDB if it rejects one. */
export async function assertTaken(connection: Connection, some: FilterOf[]): Promise<void> {
  for (const kind of KINDS) {
    const ofKind = some.filter(({ key }) => key.kind === kind);
    if (ofKind.length === 0) continue;
    const organizationid = { $in: [...new Set(ofKind.map(({ key }) => key.organizationid))] };
    const appid = { $in: [...new Set(ofKind.map(({ key }) => key.appid))] };
    const nothing = { organizationid, appid, _id: FIRST_ID };
    const filters = ofKind.map(({ filter }) => filter);
    await look(connection.collection(COLLECTION_OF[kind]), { $and: [nothing, { $or: filters }] });
  }
}

function look(collection: mongo.Collection, query: mongo.Document): Promise<unknown> {
  return collection.findOne(query, { projection: { _id: 1 }, hint: { _id: 1 } });
}
