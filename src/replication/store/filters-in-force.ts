import { setTimeout as wait } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { InjectConnection, InjectModel } from '@nestjs/mongoose';
import { LRUCache } from 'lru-cache';
import type { Connection, Model, mongo } from 'mongoose';
import {
  DEFAULT_SERVICE,
  type Filter,
  isServiceName,
  type ServiceKey,
  SERVICES,
} from '../../application/index.js';
import { atMost, exactly, shown } from '../../platform/common/index.js';
import { ControlStream, KnownDocuments } from '../../platform/control/index.js';
import { readAsOf, isDuplicateKey } from '../../platform/database/index.js';
import { problems } from '../../platform/http/index.js';
import type { Kind } from '../../kinds/index.js';
import type { Tenant } from '../../record/index.js';
import { areReadable, isHashKey, newHashKey, fieldsAt, filterAt } from './stored-filters.js';
import type { FilterVersion, EditProgress } from '../protocol/index.js';
import { type FieldMask, fieldMask } from '../transcode/index.js';
import { FILTER_VERSION_MODEL, HASH_KEY_MODEL, type HashKey } from './collections.schema.js';

const REMEMBERED = 10_000;
/** Poll interval for a pending entry (milliseconds). */
const PENDING_LOOK_MS = 25;
const READ = {
  ...{ state: 1, version: 1, pending: 1, stamping: 1 },
  ...{ filter: filterAt('$filter'), fields: fieldsAt('$fields') },
};

/** The version of an entry, and whether records remain to be re-stamped for it. */
type Standing = Pick<FilterVersion, 'version' | 'pending'>;

interface ReadEntry extends Standing, Pick<FilterVersion, 'state' | 'filter' | 'stamping'> {
  /** Undefined for `default` without an entry, which shows everything. */
  _id: mongo.ObjectId | undefined;
  mask: FieldMask | undefined;
  /** The cluster time of the read, or a later one; undefined if the server did not report it. */
  readAt: mongo.Timestamp | undefined;
}

/** `default` of an application that has never chosen its fields. */
const SHOWS_ALL = {
  ...{ _id: undefined, state: 'on' as const, version: 0, pending: false },
  ...{ filter: {}, mask: undefined },
};

/** A service that is on, with the version of its filter that is in force now. */
export interface InForce {
  /** Undefined for `default` without an entry. */
  _id: mongo.ObjectId | undefined;
  of: ServiceKey;
  /** Its key in the cache of entries. */
  key: string;
  version: number;
  filter: Filter;
  /** The fields that items show; undefined if they are shown whole. */
  mask: FieldMask | undefined;
}

/**
 * The first and the last moment at which a version was seen with no re-stamps pending. The same holds for every moment in
 * between, since versions only grow and each is pending only at its beginning.
 */
interface KnownSpan {
  from: mongo.Timestamp;
  until: mongo.Timestamp;
}

/** The filter has changed since the service was read. A page judged by the old filter would miss re-stamped records. */
export class OutdatedServiceError extends Error {}

/**
 * The only access of feeds to the filter of a service. They read nothing of `services` but whether `default` has a
 * document.
 */
@Injectable()
export class FiltersInForce {
  /**
   * The range of the log in which a version is known to be in force, by entry and version. It stays true, since it
   * concerns the past.
   */
  private readonly known = new LRUCache<string, KnownSpan>(atMost(REMEMBERED));

  private readonly entriesKnown: KnownDocuments<ReadEntry>;

  constructor(
    @InjectConnection() private readonly connection: Connection,
    @InjectModel(FILTER_VERSION_MODEL) private readonly entries: Model<FilterVersion>,
    private readonly control: ControlStream,
  ) {
    this.entriesKnown = new KnownDocuments(control, entries.collection.collectionName);
  }

  /**
   * The service as it is now. Throws 404 `unknown-service`, 500 `service-misconfigured`, and 503 `not-watched` for a
   * `default` whose document has not been read yet.
   */
  async find({ organizationid, appid }: Tenant, kind: Kind, name: string): Promise<InForce> {
    if (!isServiceName(name) && name !== DEFAULT_SERVICE) throw problems.unknownService(kind, shown(name));
    const of = { organizationid, appid, kind, name };
    const { key, entry } = await this.entry(of);
    if (entry === null || entry.state === 'off') throw problems.unknownService(kind, shown(name));
    const { _id, state, version, filter, mask } = entry;
    if (state === 'beyond') throw problems.serviceBeyondLimits(kind, name);
    if (state === 'invalid' || filter === undefined) throw problems.serviceMisconfigured(kind, name);
    return { _id, of, key, version, filter, mask };
  }

  /**
   * The first moment at which this version is known to be in force; undefined if no moment has been checked yet, and
   * for `default` without an entry, which has shown everything since the beginning.
   */
  knownFrom(service: InForce): mongo.Timestamp | undefined {
    return service._id === undefined ? undefined : this.known.get(keyOf(service))?.from;
  }

  /**
   * Whether the entry had this version at a moment, with no re-stamps pending. While they are pending, the new filter
   * is in force, but records that it and the previous filter judge differently still have their old stamps: a window
   * begun with the previous filter would deliver them a second time. Throws the server's error if the moment is no
   * longer available, and OutdatedServiceError if the entry had a later version at that moment.
   */
  async isShown(service: InForce, at: mongo.Timestamp): Promise<boolean> {
    const known = this.known.get(keyOf(service));
    if (known !== undefined && at.compare(known.from) >= 0 && at.compare(known.until) <= 0) return true;
    const standing = this.knownAt(service, at) ?? (await this.standingAt(service, at));
    if (standing === undefined || standing.version < service.version) return false;
    if (standing.version > service.version) {
      this.entriesKnown.drop(service.key);
      throw new OutdatedServiceError();
    }
    if (standing.pending) return false;
    const { from, until } = known ?? { from: at, until: at };
    this.known.set(keyOf(service), {
      from: at.compare(from) < 0 ? at : from,
      until: at.compare(until) > 0 ? at : until,
    });
    return true;
  }

  /**
   * Waits for the re-stamping for this version. Returns its progress if it has not ended by `deadline` (of
   * `performance.now()`); undefined if all records are re-stamped. Throws OutdatedServiceError if the entry has another
   * version by then.
   */
  async unsettled(service: InForce, deadline: number): Promise<EditProgress | undefined> {
    for (;;) {
      const { entry } = await this.entry(service.of);
      if (entry === null || !isSameEntry(entry, service) || entry.version !== service.version)
        throw new OutdatedServiceError();
      if (!entry.pending) return undefined;
      if (performance.now() >= deadline) return entry.stamping ?? {};
      await wait(PENDING_LOOK_MS);
    }
  }

  /**
   * The cached entry, if `at` lies between its read and the place up to which the control stream has been received. The
   * entry did not change in that range.
   */
  private knownAt(service: InForce, at: mongo.Timestamp): Standing | undefined {
    const entry = this.entriesKnown.peek(service.key);
    const { heardUpTo } = this.control;
    const isCovered =
      entry !== undefined &&
      isSameEntry(entry, service) &&
      entry.readAt !== undefined &&
      at.compare(entry.readAt) >= 0 &&
      heardUpTo !== undefined &&
      at.compare(heardUpTo) <= 0;
    return isCovered ? entry : undefined;
  }

  /** The entry, with its key in the cache. */
  private async entry(of: ServiceKey): Promise<{ key: string; entry: ReadEntry | null }> {
    const key = JSON.stringify(of);
    const entry = await this.entriesKnown.findShared(key, ({ session }) => this.read(of, session));
    if (entry?.readAt === undefined) this.entriesKnown.drop(key);
    return { key, entry };
  }

  private async read(of: ServiceKey, session: mongo.ClientSession): Promise<ReadEntry | null> {
    const { collection } = this.entries;
    const entry = await collection.findOne<FilterVersion>(of, { projection: READ, session });
    if (entry === null) return of.name === DEFAULT_SERVICE ? this.defaultWithout(of, session) : null;
    const { fields, ...known } = entry;
    const readAt = session.operationTime;
    return areReadable(fields)
      ? { ...known, mask: fields && fieldMask(fields, fields.key?.buffer), readAt }
      : { ...known, state: 'invalid', mask: undefined, readAt };
  }

  /**
   * `default` gets an entry as soon as it has a document in `services`. If there is a document but no entry, the entry
   * is not written yet, or was lost. Throws 503 `not-watched` in this case, because a page must not show what the
   * document may hide.
   */
  private async defaultWithout(of: ServiceKey, session: mongo.ClientSession): Promise<ReadEntry> {
    const services = this.connection.collection(SERVICES);
    const which = Object.fromEntries(Object.entries(of).map(([field, name]) => [field, exactly(name)]));
    const document = await services.findOne(which, { projection: { _id: 1 }, session });
    if (document !== null) throw problems.notWatched();
    return { ...SHOWS_ALL, readAt: session.operationTime };
  }

  private async standingAt({ _id, of }: InForce, at: mongo.Timestamp): Promise<Standing | undefined> {
    const projection = { version: 1, pending: 1 };
    const which = _id === undefined ? of : { _id };
    const entry = await readAsOf(this.connection.getClient(), at, (snapshot) =>
      this.entries.collection.findOne<FilterVersion>(which, { ...snapshot, projection }),
    );
    return entry ?? (_id === undefined ? SHOWS_ALL : undefined);
  }
}

function isSameEntry(entry: Pick<ReadEntry, '_id'>, { _id }: InForce): boolean {
  return _id === undefined ? entry._id === undefined : entry._id?.equals(_id) === true;
}

function keyOf({ _id, key, version }: InForce): string {
  return `${_id?.toHexString() ?? key} ${version}`;
}

/** The keys of the hashes, one for each application (contract §7). */
@Injectable()
export class HashKeys {
  constructor(@InjectModel(HASH_KEY_MODEL) private readonly keys: Model<HashKey>) {}

  /** The keys of these applications. Makes those that do not exist, and leaves out those that cannot be read. */
  async among(tenants: Tenant[]): Promise<(Tenant & { key: mongo.Binary })[]> {
    if (tenants.length === 0) return [];
    const $or = tenants.map(({ organizationid, appid }) => ({ organizationid, appid }));
    const find = () => this.keys.collection.find<HashKey>({ $or }).toArray();
    const stored = await find();
    const isStored = (one: Tenant) =>
      stored.some(
        ({ organizationid, appid }) => organizationid === one.organizationid && appid === one.appid,
      );
    const missing = $or.filter((one) => !isStored(one));
    if (missing.length > 0) await this.make(missing);
    const found = missing.length > 0 ? await find() : stored;
    return found.filter(({ key }) => isHashKey(key));
  }

  /** Another leader may create some of the keys first. */
  private async make(tenants: Tenant[]): Promise<void> {
    const made = tenants.map((tenant) => ({ ...tenant, key: newHashKey() }));
    await this.keys.collection.insertMany(made, { ordered: false }).catch((error: unknown) => {
      if (!isDuplicateKey(error)) throw error;
    });
  }
}
