import { mongo } from 'mongoose';
import type { Kind } from '../../../src/kinds/index.js';
import type { Tenant } from '../../../src/record/index.js';
import { LEASES } from '../../../src/replication/store/plain.js';
import { WATCHER, type WatchState } from '../../../src/replication/protocol/index.js';
import { collectionNamed, isDesigned, namesOf, SHOP } from '../plan/index.js';
import { FaultTurns } from './turns.js';

const SELECTION_MS = 5000;

export type SourceRecord = mongo.Document & { _id: mongo.ObjectId };

/** The database as other programs see it. */
export class RecordSource {
  readonly tenant: Tenant = SHOP;
  /** Another application, for records that move there and back. */
  readonly elsewhere: Tenant = { organizationid: 'acme', appid: 'depot' };

  /**
   * Whoever gives a record an `id` looks first whether it is free, and nobody else gives one meanwhile: the unique index
   * is away after a drop, and what breaks it must be no invention of the harness.
   */
  readonly ids = new FaultTurns();

  private constructor(
    readonly client: mongo.MongoClient,
    readonly db: mongo.Db,
  ) {}

  static async connect(uri: string): Promise<RecordSource> {
    const client = await new mongo.MongoClient(uri, {
      serverSelectionTimeoutMS: SELECTION_MS,
      readConcernLevel: 'majority',
      writeConcern: { w: 'majority' },
    }).connect();
    return new RecordSource(client, client.db());
  }

  records(kind: Kind): mongo.Collection<SourceRecord> {
    return this.db.collection<SourceRecord>(collectionNamed(kind));
  }

  /** The record at a place, from 0 to 1, in `_id` order; nothing where there is none. */
  async some(kind: Kind, pick: number, tenant = this.tenant): Promise<SourceRecord | undefined> {
    const records = this.records(kind);
    const own = ownersOf(kind, tenant);
    const count = await records.countDocuments(own);
    const [record] = await records
      .find(own)
      .sort({ _id: 1 })
      .skip(Math.floor(pick * count))
      .limit(1)
      .toArray();
    return record;
  }

  /** Whether no record has the `id`, not even one that a fail-over may still take back. */
  async isFree(kind: Kind, id: unknown, tenant = this.tenant): Promise<boolean> {
    const name = isDesigned(kind) ? namesOf(kind).id : 'id';
    const ids = isDesigned(kind) ? [id, String(id), Number(id)] : [id];
    const found = await this.records(kind).findOne(
      { ...ownersOf(kind, tenant), [name]: { $in: ids } },
      { readConcern: { level: 'local' } },
    );
    return found === null;
  }

  /** The cluster time of a write that comes after everything so far; it is no business of the service. */
  async now(): Promise<mongo.Timestamp> {
    const { operationTime } = await this.client.db('aside').command({
      update: 'clock',
      updates: [{ q: { _id: 'now' }, u: { $inc: { n: 1 } }, upsert: true }],
      writeConcern: { w: 'majority' },
    });
    return operationTime as mongo.Timestamp;
  }

  /** The cluster time up to which the service says it has worked everything through. */
  async watched(): Promise<mongo.Timestamp | undefined> {
    const { watched, aside = [] } = (await this.lease()) ?? {};
    // Nothing is known of an application that has a pass of its own.
    if (aside.some((one) => one.watched === undefined)) return undefined;
    return aside.reduce(
      (least, one) => (least && one.watched?.lessThan(least) ? one.watched : least),
      watched,
    );
  }

  /** What the service has written down of how far it has come. */
  async lease(): Promise<WatchState | null> {
    return this.leases.findOne({ _id: WATCHER });
  }

  get leases(): mongo.Collection<WatchState> {
    return this.db.collection<WatchState>(LEASES);
  }

  /** What the server is busy with, and what somebody has begun and not ended: one line each. */
  async doings(): Promise<string[]> {
    const { cursor } = await this.client.db('admin').command({
      aggregate: 1,
      pipeline: [{ $currentOp: { allUsers: true, idleSessions: true } }],
      cursor: {},
      readConcern: { level: 'local' },
    });
    const operations = (cursor as { firstBatch: mongo.Document[] }).firstBatch;
    return operations
      .filter(
        (one) =>
          one['transaction'] !== undefined ||
          one['waitingForLock'] === true ||
          String(one['ns']).startsWith(`${this.db.databaseName}.`),
      )
      .map((one) => JSON.stringify(one));
  }
}

/** The fields that say whose a record is; prices have none. */
function ownersOf(kind: Kind, tenant: Tenant): Partial<Tenant> {
  return kind === 'price' ? {} : tenant;
}
