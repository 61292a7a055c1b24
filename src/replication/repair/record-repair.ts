import { randomUUID } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import { literal } from '../../common/index.js';
import { isUnfit } from '../../database/index.js';
import { Metrics } from '../../observability/index.js';
import {
  COLLECTION_OF,
  doubled,
  idTextAt,
  type Kind,
  single,
  STAMP,
  RecordsHeldError,
  stampDoubled,
  writeUnlessHeld,
} from '../../record/index.js';
import { Ledger, type Life } from '../ledger/index.js';
import { type Late, Restamps } from '../stamping/index.js';
import { EmailKeys, type WantedKey } from './email-keys.js';
import { neededRepairOf } from './needed-repair.js';
import { isDeliverable, type RecordLook } from './present-record.js';
import { type RecordWrite, writeRecords } from './record-writes.js';

/** This asks for the type itself: the operator `$type` of queries looks into lists, and would take them for right. */
const NO_ID = { $expr: { $ne: [{ $type: idTextAt('$id') }, 'string'] } };
/** What a new `id` changes. */
const CHANGED = ['id', 'lastupdated'];

/** Repairs what other programs left out (contract §2, §4). Every write is conditional on what it repairs still being so. */
@Injectable()
export class RecordRepair {
  private readonly log = new Logger('Watcher');

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly ledger: Ledger,
    private readonly emailKeys: EmailKeys,
    private readonly restamps: Restamps,
    private readonly metrics: Metrics,
  ) {}

  /** Answers the members whose e-mail another one has already. */
  async repair(kind: Kind, { records, at, term }: RecordLook): Promise<mongo.ObjectId[]> {
    const lives: Life[] = [];
    const wantedKeys: WantedKey[] = [];
    const badlyStamped: Late[] = [];
    for (const record of records) {
      if (!isDeliverable(record)) continue;
      const { _id, organizationid, appid } = record;
      const repairing = neededRepairOf(kind, record);
      if (repairing?.id) {
        const identity = { kind, organizationid, appid, id: randomUUID() };
        lives.push({ identity, at, alive: true, owner: _id });
      } else if (repairing?.stamp) badlyStamped.push({ _id, reason: 'bad' });
      if (repairing?.emailkey !== undefined) {
        const { email } = record;
        const { emailkey } = repairing;
        wantedKeys.push({ _id, organizationid, appid, email, emailkey, hasOther: record.emailkey !== null });
      }
    }
    await this.ledger.learn(lives);
    await this.giveIds(kind, lives);
    await this.restamps.late(kind, badlyStamped, term);
    const duplicates = await this.emailKeys.set(wantedKeys);
    this.metrics.repaired.inc({ what: 'id' }, lives.length);
    this.metrics.repaired.inc({ what: 'emailkey' }, wantedKeys.length);
    return duplicates;
  }

  /**
   * A new `id` is a change that consumers must see, so the stamp moves with it. The ledger learns it before, since the
   * record may be shown and deleted at once: then nobody could tell any more under which `id`.
   */
  private async giveIds(kind: Kind, lives: Life[]): Promise<void> {
    const collection = this.connection.collection(COLLECTION_OF[kind]) as unknown as mongo.Collection;
    await writeRecords(collection, lives.map(giveId));
    const odd = await this.doubledAmong(collection, lives);
    for (const { owner, identity } of odd) {
      const write = { ids: [owner], names: CHANGED, where: NO_ID, set: { id: identity.id } };
      const held = await writeUnlessHeld([owner], async (_one, maxTimeMS) => {
        await stampDoubled(collection, { ...write, maxTimeMS }).catch((error: unknown) => {
          if (!isUnfit(error)) throw error;
          this.log.warn(
            `${String(owner)} of ${collection.collectionName} cannot be repaired: ${error.message}`,
          );
        });
      });
      if (held.length > 0) throw new RecordsHeldError(held);
    }
  }

  private async doubledAmong(collection: mongo.Collection, lives: Life[]): Promise<Life[]> {
    if (lives.length === 0) return [];
    const among = { _id: { $in: lives.map(({ owner }) => owner) } };
    const found = await collection
      .find({ $and: [among, NO_ID, doubled(...CHANGED)] }, { projection: { _id: 1 } })
      .toArray();
    const ids = new Set(found.map(({ _id }) => _id.toHexString()));
    return lives.filter(({ owner }) => ids.has(owner.toHexString()));
  }
}

function giveId({ owner: _id, identity }: Life): RecordWrite {
  const update = [{ $set: { id: literal(identity.id), lastupdated: STAMP } }];
  return { updateOne: { filter: { _id, $and: [NO_ID, single(...CHANGED)] }, update } };
}
