import { Injectable } from '@nestjs/common';
import { InjectConnection, InjectModel } from '@nestjs/mongoose';
import { LRUCache } from 'lru-cache';
import type { Connection, Model, mongo } from 'mongoose';
import type { Filter } from '../../application/index.js';
import { NAME, problems } from '../../common/index.js';
import { readAsOf } from '../../database/index.js';
import type { Kind, Tenant } from '../../record/index.js';
import { type Effective, EFFECTIVE_MODEL } from '../effective/index.js';

/** The service that needs no registration and filters nothing. */
export const DEFAULT_SERVICE = 'default';

const REMEMBERED = 10_000;

/** A service that is on, with its filter in the version that is in force now. */
export interface InForce {
  _id: mongo.ObjectId;
  version: number;
  filter: Filter;
}

/** The one door through which feeds come to the filter of a service. They never read `services`. */
@Injectable()
export class FiltersInForce {
  /** By entry and version the earliest cluster time known to show it: a fact about the past. */
  private readonly shownFrom = new LRUCache<string, mongo.Timestamp>({ max: REMEMBERED });

  constructor(
    @InjectConnection() private readonly connection: Connection,
    @InjectModel(EFFECTIVE_MODEL) private readonly entries: Model<Effective>,
  ) {}

  /** The service as it is now; nothing for `default`. Throws 404 `unknown-service` and 500 `service-misconfigured`. */
  async of({ organizationid, appid }: Tenant, kind: Kind, name: string): Promise<InForce | undefined> {
    if (name === DEFAULT_SERVICE) return undefined;
    if (!NAME.test(name)) throw problems.unknownService(kind, name);
    const entry = await this.entries.collection.findOne<Effective>({ organizationid, appid, kind, name });
    if (entry === null || entry.state === 'off') throw problems.unknownService(kind, name);
    const { _id, state, version, filter } = entry;
    if (state === 'invalid' || filter === undefined) throw problems.serviceMisconfigured(kind, name);
    return { _id, version, filter };
  }

  /** From where on this version is known to be in force; nothing where no moment was looked at yet. */
  knownFrom(service: InForce): mongo.Timestamp | undefined {
    return this.shownFrom.get(keyOf(service));
  }

  /** Whether the entry had this version at a moment already. Throws what the server says where that is gone. */
  async isShown(service: InForce, at: mongo.Timestamp): Promise<boolean> {
    const known = this.knownFrom(service);
    if (known !== undefined && at.compare(known) >= 0) return true;
    const client = this.connection.getClient();
    const then = await readAsOf(client, at, (snapshot) =>
      this.entries.collection.findOne<Effective>(
        { _id: service._id },
        { ...snapshot, projection: { version: 1 } },
      ),
    );
    if (then?.version !== service.version) return false;
    this.shownFrom.set(keyOf(service), at);
    return true;
  }
}

function keyOf({ _id, version }: InForce): string {
  return `${_id.toHexString()} ${version}`;
}
