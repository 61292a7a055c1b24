import { setTimeout as wait } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { InjectConnection, InjectModel } from '@nestjs/mongoose';
import { LRUCache } from 'lru-cache';
import type { Connection, Model, mongo } from 'mongoose';
import { type Filter, isServiceName, type ServiceKey } from '../../application/index.js';
import { atMost, SharedReads, shown } from '../../common/index.js';
import { ControlStream, KnownDocuments } from '../../control/index.js';
import { readAsOf } from '../../database/index.js';
import { problems } from '../../http/index.js';
import type { Kind, Tenant } from '../../record/index.js';
import { filterAt } from './stored-filters.js';
import type { FilterVersion, EditProgress } from '../protocol/index.js';
import { FILTER_VERSION_MODEL } from './collections.schema.js';

/** The service that needs no registration and filters nothing. */
const DEFAULT_SERVICE = 'default';

const REMEMBERED = 10_000;
/** How often an entry is looked at that is pending (milliseconds). */
const PENDING_LOOK_MS = 25;
const READ = { state: 1, version: 1, pending: 1, stamping: 1, filter: filterAt('$filter') };

/** Which version an entry has, and whether records are still to be stamped for it. */
type Standing = Pick<FilterVersion, 'version' | 'pending'>;

interface ReadEntry extends Standing, Pick<FilterVersion, '_id' | 'state' | 'filter' | 'stamping'> {
  /** Where the log was when it was read, or later; absent where the server did not tell it. */
  readAt: mongo.Timestamp | undefined;
}

/** A service that is on, with its filter in the version that is in force now. */
export interface InForce {
  _id: mongo.ObjectId;
  of: ServiceKey;
  /** Under which it is known here. */
  key: string;
  version: number;
  filter: Filter;
}

/**
 * The first and the last moment at which a version was seen with all records stamped: it was so all the while, since versions
 * only grow, and each is pending at its beginning only.
 */
interface KnownSpan {
  from: mongo.Timestamp;
  until: mongo.Timestamp;
}

/** The filter was changed since the service was read: a page that was judged by it would miss what was stamped anew. */
export class OutdatedServiceError extends Error {}

/** The one door through which feeds come to the filter of a service. They never read `services`. */
@Injectable()
export class FiltersInForce {
  /** By entry and version the stretch of the log in which it is known to be in force: a fact about the past. */
  private readonly known = new LRUCache<string, KnownSpan>(atMost(REMEMBERED));

  private readonly reads = new SharedReads<ReadEntry | null>();
  private readonly entriesKnown: KnownDocuments<ReadEntry>;

  constructor(
    @InjectConnection() private readonly connection: Connection,
    @InjectModel(FILTER_VERSION_MODEL) private readonly entries: Model<FilterVersion>,
    private readonly control: ControlStream,
  ) {
    this.entriesKnown = new KnownDocuments(control, entries.collection.collectionName);
  }

  /** The service as it is now; nothing for `default`. Throws 404 `unknown-service` and 500 `service-misconfigured`. */
  async find({ organizationid, appid }: Tenant, kind: Kind, name: string): Promise<InForce | undefined> {
    if (name === DEFAULT_SERVICE) return undefined;
    if (!isServiceName(name)) throw problems.unknownService(kind, shown(name));
    const of = { organizationid, appid, kind, name };
    const { key, entry } = await this.entry(of);
    if (entry === null || entry.state === 'off') throw problems.unknownService(kind, shown(name));
    const { _id, state, version, filter } = entry;
    if (state === 'beyond') throw problems.serviceBeyondLimits(kind, name);
    if (state === 'invalid' || filter === undefined) throw problems.serviceMisconfigured(kind, name);
    return { _id, of, key, version, filter };
  }

  /** From where on this version is known to be in force; nothing where no moment was looked at yet. */
  knownFrom(service: InForce): mongo.Timestamp | undefined {
    return this.known.get(keyOf(service))?.from;
  }

  /**
   * Whether the entry had this version at a moment, and nothing was left to stamp for it: before, what the filters judge
   * differently still has its old stamps, and a window that was begun with the filter before would tell it a second time.
   * Throws what the server says where the moment is gone, and OutdatedServiceError where the entry had a later version by
   * then.
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
   * How far the stamping for this version has come where it is not over by `deadline` (of `performance.now()`); undefined where all
   * records are stamped. Throws OutdatedServiceError where the entry has another version by then.
   */
  async unsettled(service: InForce, deadline: number): Promise<EditProgress | undefined> {
    for (;;) {
      const { entry } = await this.entry(service.of);
      if (entry?._id.equals(service._id) !== true || entry.version !== service.version)
        throw new OutdatedServiceError();
      if (!entry.pending) return undefined;
      if (performance.now() >= deadline) return entry.stamping ?? {};
      await wait(PENDING_LOOK_MS);
    }
  }

  /** From when it was read until where everything was heard the entry was the same. */
  private knownAt({ _id, key }: InForce, at: mongo.Timestamp): Standing | undefined {
    const entry = this.entriesKnown.peek(key);
    const { heardUpTo } = this.control;
    const isCovered =
      entry?._id.equals(_id) === true &&
      entry.readAt !== undefined &&
      at.compare(entry.readAt) >= 0 &&
      heardUpTo !== undefined &&
      at.compare(heardUpTo) <= 0;
    return isCovered ? entry : undefined;
  }

  /** The entry, with the name under which it is known here. */
  private async entry(of: ServiceKey): Promise<{ key: string; entry: ReadEntry | null }> {
    const key = JSON.stringify(of);
    const entry = await this.entriesKnown.find(key, () => this.reads.share(key, () => this.read(of)));
    if (entry?.readAt === undefined) this.entriesKnown.drop(key);
    return { key, entry };
  }

  private read(of: ServiceKey): Promise<ReadEntry | null> {
    const { collection } = this.entries;
    return this.control.read(async ({ session }) => {
      const entry = await collection.findOne<Omit<ReadEntry, 'readAt'>>(of, { projection: READ, session });
      return entry && { ...entry, readAt: session.operationTime };
    });
  }

  private async standingAt({ _id }: InForce, at: mongo.Timestamp): Promise<Standing | undefined> {
    const projection = { version: 1, pending: 1 };
    const entry = await readAsOf(this.connection.getClient(), at, (snapshot) =>
      this.entries.collection.findOne<FilterVersion>({ _id }, { ...snapshot, projection }),
    );
    return entry ?? undefined;
  }
}

function keyOf({ _id, version }: InForce): string {
  return `${_id.toHexString()} ${version}`;
}
