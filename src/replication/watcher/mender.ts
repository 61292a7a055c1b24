import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import { literal, Metrics } from '../../common/index.js';
import { COLLECTION_OF, idTextAt, type Kind, STAMP } from '../../record/index.js';
import { Ledger, type Life } from '../ledger/index.js';
import { EmailKeys, type WantedKey } from './email-keys.js';
import { isDeliverable, type Look, mendingOf } from './mending.js';
import { type RecordWrite, writeRecords } from './record-writes.js';
import { Restamps } from './restamps.js';
import type { Late } from './rules.js';

/** This asks for the type itself: the operator `$type` of queries looks into lists, and would take them for right. */
const NO_ID = { $expr: { $ne: [{ $type: idTextAt('$id') }, 'string'] } };

/** Mends what other programs left out (contract §2, §4). Every write is conditional on what it mends still being so. */
@Injectable()
export class Mender {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly ledger: Ledger,
    private readonly emailKeys: EmailKeys,
    private readonly restamps: Restamps,
    private readonly metrics: Metrics,
  ) {}

  async mend(kind: Kind, { records, at }: Look): Promise<void> {
    const writes: RecordWrite[] = [];
    const lives: Life[] = [];
    const wantedKeys: WantedKey[] = [];
    const badlyStamped: Late[] = [];
    for (const record of records) {
      if (!isDeliverable(record)) continue;
      const { _id, organizationid, appid } = record;
      const mending = mendingOf(kind, record);
      if (mending?.id) {
        const identity = { kind, organizationid, appid, id: randomUUID() };
        lives.push({ identity, at, alive: true, owner: _id });
        writes.push(giveId(_id, identity.id));
      } else if (mending?.stamp) badlyStamped.push({ _id, reason: 'bad' });
      if (mending?.emailkey !== undefined) {
        wantedKeys.push({ _id, organizationid, appid, email: record.email, emailkey: mending.emailkey });
      }
    }
    await this.ledger.learn(lives);
    await writeRecords(this.connection.collection(COLLECTION_OF[kind]), writes);
    await this.restamps.late(kind, badlyStamped);
    await this.emailKeys.set(wantedKeys);
    this.metrics.mended.inc({ what: 'id' }, writes.length);
    this.metrics.mended.inc({ what: 'emailkey' }, wantedKeys.length);
  }
}

/**
 * A new `id` is a change that consumers must see, so the stamp moves with it. The ledger learns it before, since the
 * record may be shown and deleted at once: then nobody could tell any more under which `id`.
 */
function giveId(_id: mongo.ObjectId, id: string): RecordWrite {
  const update = [{ $set: { id: literal(id), lastupdated: STAMP } }];
  return { updateOne: { filter: { _id, ...NO_ID }, update } };
}
