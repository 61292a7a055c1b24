import { Injectable, Logger } from '@nestjs/common';
import { InjectConnection, InjectModel } from '@nestjs/mongoose';
import mongoose, { type Connection, type Model, mongo } from 'mongoose';
import { SERVICE_MODEL, type Service } from '../../application/index.js';
import { databaseProblem, isDuplicateKey } from '../../database/index.js';
import { FIRST_ID, COLLECTION_OF, KINDS } from '../../record/index.js';
import {
  EFFECTIVE_MODEL,
  type Effective,
  type EffectiveChange,
  judgedDifferently,
  reconciled,
  type Wanted,
  wantedOf,
} from '../effective/index.js';
import { Restamps } from './restamps.js';

const AT_ONCE = 1000;
const MOST_ROUNDS = 5;

type ServiceKey = Pick<Service, 'organizationid' | 'appid' | 'kind' | 'name'>;

/** Rule 5: brings `services` into force in one place, and stamps anew what the old and the new filter judge differently. */
@Injectable()
export class Filters {
  private readonly log = new Logger('Filters');

  constructor(
    @InjectConnection() private readonly connection: Connection,
    @InjectModel(SERVICE_MODEL) private readonly services: Model<Service>,
    @InjectModel(EFFECTIVE_MODEL) private readonly entries: Model<Effective>,
    private readonly restamps: Restamps,
  ) {}

  /** Looks at all services. Where somebody else was quicker to change an entry, it is looked at again. */
  async reconcile(): Promise<void> {
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      if (await this.round()) return;
    }
    this.log.warn(
      'The filters are being changed by somebody else at the same time; they are looked at again soon',
    );
  }

  /** What is in force is read before what is wanted: the other way round an older wish could win. */
  private async round(): Promise<boolean> {
    const entries = await this.entries.collection.find<Effective>({}).toArray();
    for (const entry of entries) if (entry.pending) await this.finish(entry);
    const byKey = new Map(entries.map((entry) => [keyOf(entry), entry]));
    const services = new Map((await this.wished()).map((service) => [keyOf(service), service]));
    let undisturbed = true;
    for (const key of new Set([...byKey.keys(), ...services.keys()])) {
      const entry = byKey.get(key);
      const change = await this.changeOf(entry, services.get(key));
      if (change === undefined) continue;
      const { organizationid, appid, kind, name } = (services.get(key) ?? entry)!;
      const written = await this.write({ organizationid, appid, kind, name }, entry, change);
      if (written === undefined) undisturbed = false;
      else if (written.pending) await this.finish(written);
    }
    return undisturbed;
  }

  private async wished(): Promise<Service[]> {
    const services = await this.services.collection.find<Service>({}).toArray();
    return services.filter(({ organizationid, appid, kind, name }) => {
      const texts = [organizationid, appid, name].every((text) => typeof text === 'string');
      return texts && KINDS.includes(kind);
    });
  }

  /** A filter that MongoDB refuses is as invalid as one that contract §4 refuses. */
  private async changeOf(
    entry: Effective | undefined,
    service: Service | undefined,
  ): Promise<EffectiveChange | undefined> {
    const wanted = wantedOf(service);
    const change = reconciled(entry, wanted);
    if (change === undefined || service === undefined || (await this.isTaken(service, wanted))) return change;
    const invalid = reconciled(entry, { state: 'invalid' });
    if (invalid !== undefined)
      this.log.warn(`MongoDB refuses the filter of the ${service.kind} service "${service.name}"`);
    return invalid;
  }

  /** MongoDB refuses a filter when it reads it, whatever there is to be found. */
  private async isTaken({ organizationid, appid, kind }: ServiceKey, wanted: Wanted): Promise<boolean> {
    if (wanted.state !== 'on') return true;
    const query = { $and: [{ organizationid, appid, _id: FIRST_ID }, wanted.filter] };
    return this.connection
      .collection(COLLECTION_OF[kind])
      .findOne(query, { projection: { _id: 1 } })
      .then(
        () => true,
        (error: unknown) => !isRefusal(error),
      );
  }

  /** Only if the version is still the one that was read; nothing where it is not. */
  private async write(
    key: ServiceKey,
    entry: Effective | undefined,
    change: EffectiveChange,
  ): Promise<Effective | undefined> {
    if (entry === undefined) {
      const _id = new mongo.ObjectId();
      const inserted = await this.entries.collection
        .insertOne({ _id, ...key, ...change })
        .catch(onlyDuplicate);
      return inserted && { _id, ...key, ...change };
    }
    const written = { _id: entry._id, ...key, ...change };
    const { matchedCount } = await this.entries.collection.replaceOne(
      { _id: entry._id, version: entry.version },
      written,
    );
    return matchedCount === 1 ? written : undefined;
  }

  /** Stamps anew what the filters judge differently, then clears `pending` in the same version. */
  private async finish(entry: Effective): Promise<void> {
    const { organizationid, appid, kind, name, version } = entry;
    const count = await this.restamp(entry);
    await this.entries.collection.updateOne(
      { _id: entry._id, version },
      { $set: { pending: false }, $unset: { previous: '' } },
    );
    this.log.log(
      `The filter of the ${kind} service "${name}" of ${organizationid}/${appid} is in force, version ${version}: ` +
        `${count} records stamped anew`,
    );
  }

  private async restamp(entry: Effective): Promise<number> {
    const { organizationid, appid, kind, filter, previous } = entry;
    const differing = judgedDifferently(filter ?? {}, previous ?? {});
    let count = 0;
    for (let behind = FIRST_ID; ;) {
      const within = { organizationid, appid, _id: { $gt: behind } };
      const ids = await this.idsOf(entry, { $and: [within, differing] }).catch((error: unknown) => {
        if (!isRefusal(error)) throw error;
        return this.idsOf(entry, within);
      });
      const last = ids.at(-1);
      if (last === undefined) return count;
      await this.restamps.records(kind, ids, 'filter');
      behind = last;
      count += ids.length;
    }
  }

  /** No index is stated: after a drop it is missing until the watcher comes to that, which it could not if this failed. */
  private async idsOf({ kind }: ServiceKey, query: mongo.Document): Promise<mongo.ObjectId[]> {
    const found = await this.connection
      .collection(COLLECTION_OF[kind])
      .find(query, { projection: { _id: 1 }, sort: { _id: 1 }, limit: AT_ONCE })
      .toArray();
    return found.map(({ _id }) => _id).filter((id) => id instanceof mongo.ObjectId);
  }
}

function keyOf({ organizationid, appid, kind, name }: ServiceKey): string {
  return JSON.stringify([organizationid, appid, kind, name]);
}

function isRefusal(error: unknown): boolean {
  return error instanceof mongoose.mongo.MongoServerError && databaseProblem(error) === undefined;
}

function onlyDuplicate(error: unknown): undefined {
  if (!isDuplicateKey(error)) throw error;
}
