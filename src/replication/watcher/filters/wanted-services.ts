import { mongo, type Connection, type Model } from 'mongoose';
import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import {
  databaseProblem,
  isDuplicateKey,
  isRefusedQuery,
  isUnfit,
} from '../../../platform/database/index.js';
import { TermOverError, amongServices, fieldsAt, filterAt, nameAt } from '../../store/index.js';
import {
  type Filter,
  type ServiceKey,
  isNamed,
  SERVICE_MODEL,
  type StoredFields,
  type StoredService,
} from '../../../application/index.js';
import { kindNames } from '../../../kinds/index.js';
import { recordsIn, FIRST_ID } from '../../../record/index.js';

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
  const collection = recordsIn(connection, kind);
  try {
    await probe(collection, { $and: [nothing, filter] });
    return true;
  } catch (error) {
    if (isOfDatabase(error)) throw error;
    if (!isRefusedQuery(error)) await probe(collection, nothing);
    return false;
  }
}

/** Checks several filters by one query for each kind. Throws the error of MongoDB if it rejects one. */
export async function assertTaken(connection: Connection, some: FilterOf[]): Promise<void> {
  for (const kind of kindNames()) {
    const ofKind = some.filter(({ key }) => key.kind === kind);
    if (ofKind.length === 0) continue;
    const organizationid = { $in: [...new Set(ofKind.map(({ key }) => key.organizationid))] };
    const appid = { $in: [...new Set(ofKind.map(({ key }) => key.appid))] };
    const nothing = { organizationid, appid, _id: FIRST_ID };
    const filters = ofKind.map(({ filter }) => filter);
    await probe(recordsIn(connection, kind), { $and: [nothing, { $or: filters }] });
  }
}

function probe(collection: mongo.Collection, query: mongo.Document): Promise<unknown> {
  return collection.findOne(query, { projection: { _id: 1 }, hint: { _id: 1 } });
}

/** Reads only values that can be names. A document with any other value names no service. */
const NAMES = {
  ...{ organizationid: nameAt('$organizationid'), appid: nameAt('$appid') },
  ...{ kind: nameAt('$kind'), name: nameAt('$name') },
};
const REGISTERED = { ...NAMES, bytes: { $bsonSize: '$$ROOT' } };
/** Neither true nor false nor missing: a service with a filter is then disabled, and `default` cannot be read. */
const UNCLEAR = 'unclear';
const IS_ENABLED = { $eq: [{ $ifNull: ['$enabled', true] }, true] };
const ENABLED = { $cond: [IS_ENABLED, true, { $cond: [{ $eq: ['$enabled', false] }, false, UNCLEAR] }] };
const WISH = {
  ...{ _id: 0, ...NAMES, filter: filterAt('$filter') },
  enabled: ENABLED,
  ...{ fields: fieldsAt('$fields'), hash: fieldsAt('$hash') },
  ...{ allowHiddenFilter: fieldsAt('$allowHiddenFilter'), schemaExamples: fieldsAt('$schemaExamples') },
};
const AT_ONCE = 1000;

export type WantedService = ServiceKey & Pick<StoredService, 'filter' | 'enabled' | keyof StoredFields>;

/** A document of `services`, and the service that it names, if any. */
export interface NamedService {
  _id: unknown;
  key: ServiceKey | undefined;
  /** The size of the whole document. */
  bytes: number;
}

/** Reads `services`, which operators write. */
@Injectable()
export class WantedServices {
  constructor(@InjectModel(SERVICE_MODEL) private readonly services: Model<StoredService>) {}

  /** Reads the services that these documents name, or all documents. Deleted documents are left out. */
  async *named(ids?: mongo.ObjectId[]): AsyncGenerator<NamedService[]> {
    const which = ids === undefined ? {} : { _id: { $in: ids } };
    const found = this.services.collection.find<StoredService & { _id: unknown; bytes: number }>(which, {
      projection: REGISTERED,
      batchSize: AT_ONCE,
    });
    while (await found.hasNext())
      yield found.readBufferedDocuments().map(({ _id, bytes, ...service }) => ({
        _id,
        bytes,
        key: isNamed(service) ? keyOf(service) : undefined,
      }));
  }

  /** The wanted versions of these services. A service without a document is left out. */
  async wishes(keys: ServiceKey[]): Promise<WantedService[]> {
    if (keys.length === 0) return [];
    const found = this.services.collection.find<StoredService>(amongServices(keys), { projection: WISH });
    return (await found.toArray()).filter(isNamed);
  }
}

function keyOf({ organizationid, appid, kind, name }: ServiceKey): ServiceKey {
  return { organizationid, appid, kind, name };
}
