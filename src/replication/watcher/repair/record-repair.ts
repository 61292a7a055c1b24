import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import { emailKeyOf } from '../../../member/index.js';
import { type Kind, CHANNEL_KIND, PERSON_KIND } from '../../../kinds/index.js';
import {
  recordsIn,
  storedName,
  doubled,
  idTextAt,
  single,
  STAMP,
  RecordsHeldError,
  stampDoubled,
  writeUnlessHeld,
} from '../../../record/index.js';
import { type PresentRecord, isDeliverable, type ReadRecords, channelsOf } from './present-record.js';
import { literal } from '../../../platform/common/index.js';
import { isUnfit, pastValidator } from '../../../platform/database/index.js';
import { Metrics } from '../../../platform/observability/index.js';
import { Ledger, Quarantine, KnownChannels } from '../../store/index.js';
import type { Life, Late } from '../../protocol/index.js';
import { Restamps } from '../stamping/restamps.js';
import { EmailKeys, type WantedKey } from './email-keys.js';
import { type RecordWrite, RecordWrites, TooLarge, UnreadableIds } from './record-writes.js';
import { IgnoredRecords } from './ignored-records.js';

/** What a record lacks according to contract §2 and §4. */
interface NeededRepair {
  /** It has no `id`, or one that is neither a text nor a whole number. */
  id: boolean;
  /** Its `lastupdated` is missing, no date, or more than a second in the future. */
  stamp: boolean;
  /** The `emailkey` it should have; `null` if it should have none. Absent if the current one is right. */
  emailkey?: string | null;
}

/** The repairs that a deliverable record needs; undefined if it needs none. */
export function neededRepairOf(kind: Kind, record: PresentRecord): NeededRepair | undefined {
  const repairing: NeededRepair = { id: typeof record.id !== 'string', stamp: !record.isStamped };
  if (kind === PERSON_KIND) {
    const wanted = emailKeyOf(record.email) ?? null;
    if (wanted !== record.emailkey) repairing.emailkey = wanted;
  }
  return repairing.id || repairing.stamp || repairing.emailkey !== undefined ? repairing : undefined;
}

/**
 * Matches records without a usable `id`. Compares the type by an expression: the query operator `$type` also examines
 * the elements of an array, and would take an array of texts for a text.
 */
const NO_ID = { $expr: { $ne: [{ $type: idTextAt('$id') }, 'string'] } };
/** The fields that a new `id` changes. */
const CHANGED = ['id', 'lastupdated'] as const;

/** Repairs what other programs left out (contract §2, §4). Every write is applied only if its reason still exists. */
@Injectable()
export class RecordRepair {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly ledger: Ledger,
    private readonly emailKeys: EmailKeys,
    private readonly restamps: Restamps,
    private readonly writes: RecordWrites,
    private readonly quarantine: Quarantine,
    private readonly metrics: Metrics,
  ) {}

  /** Returns the members whose e-mail is already taken by another member. */
  async repair(kind: Kind, { records, at, term }: ReadRecords): Promise<mongo.ObjectId[]> {
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
    if (lives.length > 0) await this.giveIds(kind, lives);
    await this.restamps.late(kind, badlyStamped, term);
    return this.emailKeys.set(wantedKeys);
  }

  /**
   * A new `id` is a change that consumers must see, so the stamp changes with it. The ledger learns only the ids that
   * records have taken, because an `id` without a record would live forever. If the work is interrupted in between, the
   * ledger learns the `id` from the log, in which the write precedes any later change of the record.
   */
  private async giveIds(kind: Kind, lives: Life[]): Promise<void> {
    const collection = recordsIn(this.connection, kind);
    const names = CHANGED.map((name) => storedName(collection, name));
    await this.writes.write(
      kind,
      'id',
      lives.map((life) => giveId(life, names)),
    );
    const odd = await this.doubledAmong(collection, lives);
    for (const { owner, identity } of odd) {
      const write = { ids: [owner], names, where: NO_ID, set: { id: identity.id } };
      const held = await writeUnlessHeld([owner], async (_one, maxTimeMS) => {
        await pastValidator((past) =>
          stampDoubled(collection, { ...write, options: { ...past, maxTimeMS } }),
        ).catch(async (error: unknown) => {
          if (!isUnfit(error)) throw error;
          const concern = { what: 'record' as const, kind, owner };
          await this.quarantine.setAsideRefused([{ concern, what: 'id', reason: error.message }]);
        });
      });
      if (held.length > 0) throw new RecordsHeldError(held);
    }
    const given = await this.givenAmong(collection, lives);
    await this.ledger.learn(given);
    this.metrics.repaired.inc({ what: 'id' }, given.length);
  }

  private async givenAmong(collection: mongo.Collection, lives: Life[]): Promise<Life[]> {
    const among = { _id: { $in: lives.map(({ owner }) => owner) } };
    const found = await collection.find(among, { projection: { id: 1 } }).toArray();
    const ids = new Map(found.map((record) => [String(record._id), record['id'] as unknown]));
    return lives.filter(({ owner, identity }) => ids.get(owner.toHexString()) === identity.id);
  }

  private async doubledAmong(collection: mongo.Collection, lives: Life[]): Promise<Life[]> {
    const among = { _id: { $in: lives.map(({ owner }) => owner) } };
    const names = CHANGED.map((name) => storedName(collection, name));
    const found = await collection
      .find({ $and: [among, NO_ID, doubled(...names)] }, { projection: { _id: 1 } })
      .toArray();
    const ids = new Set(found.map(({ _id }) => _id.toHexString()));
    return lives.filter(({ owner }) => ids.has(owner.toHexString()));
  }
}

function giveId({ owner: _id, identity }: Life, names: string[]): RecordWrite {
  const update = [{ $set: { id: literal(identity.id), lastupdated: STAMP } }];
  return { updateOne: { filter: { _id, $and: [NO_ID, single(...names)] }, update } };
}

/**
 * Checks and repairs records in their current state, and learns their channels, both for events and for scans such as a
 * pass.
 */
@Injectable()
export class RecordMaintenance {
  constructor(
    private readonly ignored: IgnoredRecords,
    private readonly tooLarge: TooLarge,
    private readonly unreadableIds: UnreadableIds,
    private readonly repair: RecordRepair,
    private readonly channels: KnownChannels,
  ) {}

  /** Returns the members whose e-mail is already taken by another member. */
  async maintain(kind: Kind, read: ReadRecords): Promise<mongo.ObjectId[]> {
    this.ignored.see(kind, read.records);
    this.tooLarge.see(kind, read.records);
    await this.unreadableIds.remove(kind, read.records);
    const duplicates = await this.repair.repair(kind, read);
    if (kind === CHANNEL_KIND) await this.channels.learn(channelsOf(read.records));
    return duplicates;
  }
}
