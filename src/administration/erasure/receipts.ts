import mongoose, { type mongo, Schema } from 'mongoose';
import { type Kind, kindNames } from '../../kinds/index.js';
import { type Tenant, recordsIn } from '../../record/index.js';
import { shown } from '../../platform/common/index.js';
import { Problem } from '../../platform/http/plain.js';
import {
  type Delivery,
  DELIVERY_STATES,
  type DeliveryState,
  deliveriesOf,
  kindConsumers,
} from '../../replication/feed/plain.js';
import { LEDGER, type LedgerEntry } from '../../replication/store/plain.js';
import { Refused } from '../changes.js';

/**
 * The receipt of an erasure. It contains no personal data. The `id` is found through the ledger, for as long as the
 * ledger keeps the hard delete.
 */
export interface StoredReceipt extends Tenant {
  _id: mongo.ObjectId;
  kind: Kind;
  /** `_id` of the ledger entry; null if the watcher has never learned the record. */
  entry: mongo.ObjectId | null;
  /**
   * When the record was erased, by the clock of the instance or command; a record that was already gone was deleted
   * earlier.
   */
  at: Date;
  /** The stamp of the hard delete at the end of the last attempt to erase the record; null if there was none. */
  lastupdated: Date | null;
  /**
   * Whether the watcher has processed the deletion, and nothing of the record is left in the collections of the
   * service, apart from its hard delete.
   */
  isClean: boolean;
  /** When the receipt is removed: at the same time as an audit trail entry that was written at `at`. */
  expires: Date;
}

export const ERASURES = 'tidemark.erasures';

const ERASURE_MODEL = 'Erasure';

const receiptSchema = new Schema<StoredReceipt>(
  {},
  { collection: ERASURES, strict: false, versionKey: false },
)
  .index({ organizationid: 1, appid: 1, _id: -1 })
  .index({ expires: 1 }, { expireAfterSeconds: 0 });

export const erasureModels = [{ name: ERASURE_MODEL, schema: receiptSchema }];

/** The current state of an erasure. */
export interface ErasureReceipt extends Tenant {
  /** The name of the receipt: 24 hexadecimal digits. */
  receipt: string;
  kind: Kind;
  /** Null once the hard delete has expired, or if the watcher has never learned the record. */
  id: string | null;
  at: Date;
  /**
   * `waiting`: when the last attempt to erase the record ended, the watcher had not yet processed the deletion, or the
   * quarantine still had an entry of the record; erasing the record again continues the erasure. `open`: a consumer may
   * still have the record, because the delivery to it is `open` or `delivered`. `done`: there is no such consumer.
   */
  state: 'waiting' | 'open' | 'done';
  /**
   * The stamp of the hard delete or, if the `id` is used again, that of the new record if it is later. A window that
   * contains this stamp delivers the hard delete or the new record. Null if there is no stamp yet.
   */
  lastupdated: Date | null;
  /**
   * A record with this `id` exists again. A consumer that has received the new record counts as having dropped the old
   * one.
   */
  isUsedAgain: boolean;
  /** How many consumers are in each state. */
  counts: Record<DeliveryState, number>;
}

/** A receipt with the state of each consumer, the least advanced first. */
export interface WholeReceipt extends ErasureReceipt {
  consumers: Delivery[];
}

interface ReceiptPage {
  /** Only the receipts of this `id`. */
  id?: string | undefined;
  before?: mongo.ObjectId | undefined;
  limit: number;
}

/** The receipts of an application, the newest first. */
export async function listReceipts(
  db: mongo.Db,
  { organizationid, appid }: Tenant,
  { id, before, limit }: ReceiptPage,
): Promise<ErasureReceipt[]> {
  const tenant = { organizationid, appid };
  const entries =
    id === undefined
      ? undefined
      : await ledgerOf(db)
          .find({ ...tenant, kind: { $in: [...kindNames()] }, id: { $eq: id } }, { projection: { _id: 1 } })
          .toArray();
  const found = await receiptsOf(db)
    .find(
      {
        ...tenant,
        ...(entries && { entry: { $in: entries.map(({ _id }) => _id) } }),
        ...(before && { _id: { $lt: before } }),
      },
      { sort: { _id: -1 }, limit },
    )
    .toArray();
  return (await asOfNow(db, tenant, found)).map(({ consumers: _consumers, ...receipt }) => receipt);
}

/** One receipt. Throws 404 if the application has none of this name. */
export async function readReceipt(
  db: mongo.Db,
  { organizationid, appid }: Tenant,
  name: string,
): Promise<WholeReceipt> {
  const tenant = { organizationid, appid };
  const stored = /^[0-9a-f]{24}$/i.test(name)
    ? await receiptsOf(db).findOne({ ...tenant, _id: new mongoose.mongo.ObjectId(name) })
    : null;
  const [receipt] = stored === null ? [] : await asOfNow(db, tenant, [stored]);
  if (receipt !== undefined) return receipt;
  const sentence = `${organizationid}/${appid} has no erasure "${shown(name)}". A receipt is 24 hexadecimal digits, such as 6740a1b2c3d4e5f601234567.`;
  throw new Refused(new Problem(404, 'unknown-erasure', 'Unknown erasure', sentence));
}

async function asOfNow(db: mongo.Db, tenant: Tenant, receipts: StoredReceipt[]): Promise<WholeReceipt[]> {
  const kinds = [...new Set(receipts.map(({ kind }) => kind))];
  const consumers = new Map(
    await Promise.all(
      kinds.map(async (kind) => [kind, await kindConsumers(db, { ...tenant, kind })] as const),
    ),
  );
  const entries = await entriesOf(db, receipts);
  const stamps = await stampsOf(db, [...entries.values()]);
  return receipts.map((stored) => {
    const { _id, kind, entry: entryId, at, isClean } = stored;
    const entry = entries.get(String(entryId));
    const stamp = stampOf(stored, entry, stamps);
    const isNeverRead = stamp === null && isClean;
    const deliveries = isNeverRead ? [] : deliveriesOf(consumers.get(kind)!, { stamp, at });
    const counts = countsOf(deliveries);
    const isOpen = counts.open + counts.delivered > 0;
    return {
      ...{ receipt: _id.toHexString(), ...tenant, kind, id: entry?.id ?? null, at },
      state: !isClean ? 'waiting' : isOpen ? 'open' : 'done',
      lastupdated: stamp,
      isUsedAgain: isClean && entry?.alive === true,
      counts,
      consumers: deliveries,
    };
  });
}

/**
 * The stamp up to which a consumer must have read; null if there is none yet. This is the current stamp of the hard
 * delete, which is delivered again if it is re-stamped. If the `id` is used again, it is the stamp of the new record,
 * if that is later, because the new record replaces the erased one in the copies.
 */
function stampOf(
  { lastupdated, isClean }: StoredReceipt,
  entry: LedgerEntry | undefined,
  stamps: ReadonlyMap<string, Date>,
): Date | null {
  if (entry === undefined) return lastupdated;
  if (!entry.alive) return entry.lastupdated ?? lastupdated;
  if (!isClean) return null;
  const again = stamps.get(String(entry.owner));
  return again !== undefined && (lastupdated === null || again > lastupdated) ? again : lastupdated;
}

async function entriesOf(db: mongo.Db, receipts: StoredReceipt[]): Promise<Map<string, LedgerEntry>> {
  const ids = receipts.flatMap(({ entry }) => entry ?? []);
  const found = await ledgerOf(db)
    .find({ _id: { $in: ids } })
    .toArray();
  return new Map(found.map((entry) => [String(entry._id), entry]));
}

/** The stamps of the records of living entries, by the hex of their `_id`. */
async function stampsOf(db: mongo.Db, entries: LedgerEntry[]): Promise<Map<string, Date>> {
  const stamps = new Map<string, Date>();
  for (const kind of kindNames()) {
    const owners = entries.flatMap((entry) =>
      entry.alive && entry.kind === kind ? (entry.owner ?? []) : [],
    );
    if (owners.length === 0) continue;
    const found = await recordsIn(db, kind)
      .find({ _id: { $in: owners } }, { projection: { lastupdated: 1 } })
      .toArray();
    for (const { _id, lastupdated } of found)
      if (lastupdated instanceof Date) stamps.set(String(_id), lastupdated);
  }
  return stamps;
}

function countsOf(deliveries: Delivery[]): Record<DeliveryState, number> {
  const count = (wanted: DeliveryState) => deliveries.filter(({ state }) => state === wanted).length;
  return Object.fromEntries(DELIVERY_STATES.map((state) => [state, count(state)])) as Record<
    DeliveryState,
    number
  >;
}

function receiptsOf(db: mongo.Db): mongo.Collection<StoredReceipt> {
  return db.collection<StoredReceipt>(ERASURES);
}

function ledgerOf(db: mongo.Db): mongo.Collection<LedgerEntry> {
  return db.collection<LedgerEntry>(LEDGER);
}
