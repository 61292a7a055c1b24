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
import { documentOf, recordsIn, FIRST_ID, type Tenant } from '../../../record/index.js';
import { ALL, type AppShare, isIn } from '../../protocol/index.js';

/** Whether the term is over or the database is unavailable, so that the query was not answered. */
export function isOfDatabase(error: unknown): boolean {
  return error instanceof TermOverError || databaseProblem(error) !== undefined;
}

/**
 * Whether an error is not specific to the service in progress. Of the errors of the server, only rejected queries, duplicate
 * keys and writes that do not fit are specific. Any other error of the server would occur for every service.
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
 * Whether MongoDB accepts a filter. It rejects an invalid filter when it parses the query, whether or not any document
 * could match. After an error that may have another cause, the same query is sent without the filter. If that fails
 * too, its error is thrown.
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
/** Represents an invalid `enabled`. A service with a filter is then disabled, and `default` cannot be read. */
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
    const found = this.services.collection.find(amongServices(keys), { projection: WISH, raw: true });
    return (await found.toArray()).map((one) => documentOf<StoredService>(one)).filter(isNamed);
  }
}

function keyOf({ organizationid, appid, kind, name }: ServiceKey): ServiceKey {
  return { organizationid, appid, kind, name };
}

/**
 * Services that wait for a check. One of each application is taken in turn, so that many of one application delay no other.
 */
export class ServicesInTurn {
  private readonly applications = new Map<string, Map<string, ServiceKey>>();

  get isEmpty(): boolean {
    return this.applications.size === 0;
  }

  /** The names of the applications with more than this number of waiting services. */
  crowded(most: number): Set<string> {
    return new Set([...this.applications].flatMap(([name, { size }]) => (size > most ? [name] : [])));
  }

  /** A service that already waits keeps its place. */
  add(key: ServiceKey): void {
    const application = tenantName(key);
    const waiting = this.applications.get(application) ?? new Map<string, ServiceKey>();
    const name = serviceName(key);
    if (!waiting.has(name)) waiting.set(name, key);
    this.applications.set(application, waiting);
  }

  /** Takes the next ones, at most this number, and none of the applications in `leftOut` or outside of a share. */
  take(most: number, leftOut?: ReadonlySet<string>, share: AppShare = ALL): ServiceKey[] {
    const taken: ServiceKey[] = [];
    for (const [application, waiting] of this.applications) {
      if (taken.length === most) break;
      if (leftOut?.has(application) === true) continue;
      const [name, key] = waiting.entries().next().value!;
      if (!isIn(share, key)) continue;
      taken.push(key);
      waiting.delete(name);
      this.applications.delete(application);
      // After all others, so that this loop reaches it again.
      if (waiting.size > 0) this.applications.set(application, waiting);
    }
    return taken;
  }
}

/** A unique name of a service. */
export function serviceName({ organizationid, appid, kind, name }: ServiceKey): string {
  return JSON.stringify([organizationid, appid, kind, name]);
}

/** A unique name of an application. */
export function tenantName({ organizationid, appid }: Tenant): string {
  return JSON.stringify([organizationid, appid]);
}

/**
 * Pause of a service after its first consecutive failure (milliseconds). It doubles with each further one, up to
 * `LONGEST_PAUSE_MS`.
 */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 20_000;

interface Failed {
  key: ServiceKey;
  /** Number of consecutive failures. */
  failures: number;
  /** When it may be tried again (of `performance.now()`). */
  due: number;
}

/** Edited services whose records have to be re-stamped, one of each application at a time. */
export class EditedServices {
  private readonly waiting = new ServicesInTurn();
  private readonly underWay = new Set<string>();
  private readonly failed = new Map<string, Failed>();

  add(key: ServiceKey): void {
    this.waiting.add(key);
  }

  /** Takes the next one of a share. */
  take(share: AppShare): ServiceKey | undefined {
    const now = performance.now();
    for (const one of this.failed.values()) {
      if (one.due > now) continue;
      this.waiting.add(one.key);
      one.due = Infinity;
    }
    const [key] = this.waiting.take(1, this.underWay, share);
    if (key !== undefined) this.underWay.add(tenantName(key));
    return key;
  }

  end(key: ServiceKey): void {
    this.underWay.delete(tenantName(key));
    this.failed.delete(serviceName(key));
  }

  /** Ends a service that failed. It is tried again after a pause. */
  endFailed(key: ServiceKey): void {
    const failures = (this.failed.get(serviceName(key))?.failures ?? 0) + 1;
    this.end(key);
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS);
    this.failed.set(serviceName(key), { key, failures, due: performance.now() + pauseMs });
  }

  /** Milliseconds until a failed service may be tried again, at most this number. */
  restMs(most: number): number {
    const now = performance.now();
    let rest = most;
    for (const { due } of this.failed.values()) rest = Math.min(rest, Math.max(0, Math.ceil(due - now)));
    return rest;
  }
}
