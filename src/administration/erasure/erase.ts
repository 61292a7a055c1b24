import mongoose, { type mongo } from 'mongoose';
import { pause, shown } from '../../platform/common/index.js';
import { alongIndexIfAny, bareCommand, COMMAND_MS, placedReply } from '../../platform/database/plain.js';
import { Problem } from '../../platform/http/plain.js';
import { collectionOf, PERSON_KIND } from '../../kinds/index.js';
import { recordsIn, BY_RECORD_ID, isObjectId, withIds } from '../../record/index.js';
import { forgetNames } from '../../replication/schema/plain.js';
import {
  type Concern,
  hasWatched,
  INCOMPLETE_IDENTITIES,
  type IncompleteIdentity,
  LEDGER,
  type LedgerEntry,
  QUARANTINE,
  type SetAside,
} from '../../replication/store/plain.js';
import {
  EMAIL_DUPLICATES,
  EMAIL_HOLDERS,
  RESTAMPS,
  type RestampNote,
} from '../../replication/watcher/plain.js';
import { redactTarget } from '../../trail/plain.js';
import { assertApplication, nameOfTenant } from '../applications.js';
import { type ChangeContext, recordAction, Refused } from '../changes.js';
import { claiming, deleteRecords, type RecordScope } from '../record-deletion.js';
import { ERASURES, type StoredReceipt } from './receipts.js';

const DAY_MS = 86_400_000;
/**
 * Pause between two checks of the watcher's progress (milliseconds). It starts short and doubles, because each check
 * reads the quarantine.
 */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2000;
/**
 * How long to wait until all audit trail entries and notes of re-stamps about the record are stored (milliseconds):
 * instances write them up to a second late.
 */
const WRITTEN_BEHIND_MS = 2500;
const NEVER = new AbortController().signal;
const REASON = 'The record was erased.';

/** A record to erase, by its `id`. */
interface Erasable extends RecordScope {
  id: string;
}

/**
 * Deletes the record, waits until the watcher has processed the deletion, and removes all traces of the record from the
 * collections of the service, apart from its hard delete. If `over` is aborted first, the traces that the watcher still
 * needs stay, and the receipt is not clean. A record that is already gone is cleaned up in the same way. Returns the
 * `_id` of the receipt. Throws 404 if the application does not exist, or if there is no trace of the `id`.
 */
export async function erase(
  context: ChangeContext,
  erasable: Erasable,
  over: AbortSignal,
): Promise<mongo.ObjectId> {
  const { db } = context;
  await assertApplication(db, erasable.tenant);
  const traces = new Traces(db, erasable);
  const deleted = await traces.delete();
  if (deleted === 0 && !(await traces.foundWithoutRecord())) throw unknownRecord(erasable);
  const begun = performance.now();
  const receipt = await receiptFor(context, erasable, { entry: await traces.entry(), isNew: deleted > 0 });
  const isSettled = await traces.settled(over);
  if (isSettled) await pause(Math.max(0, WRITTEN_BEHIND_MS - (performance.now() - begun)), NEVER);
  await traces.remove(isSettled);
  const entry = await traces.entry();
  await db
    .collection<StoredReceipt>(ERASURES)
    .updateOne(
      { _id: receipt },
      { $set: { entry: entry?._id ?? null, lastupdated: entry?.lastupdated ?? null, isClean: isSettled } },
    );
  return receipt;
}

/**
 * Stores the receipt of this erasure, and records the erasure in the audit trail. If nothing was deleted, the receipt
 * of an earlier erasure is used again, if there is one.
 */
async function receiptFor(
  context: ChangeContext,
  { tenant: { organizationid, appid }, kind }: Erasable,
  { entry, isNew }: { entry: LedgerEntry | null; isNew: boolean },
): Promise<mongo.ObjectId> {
  const { db, auditTrailDays } = context;
  const receipts = db.collection<StoredReceipt>(ERASURES);
  const key = { organizationid, appid, kind };
  const known =
    isNew || entry === null
      ? null
      : await receipts.findOne({ ...key, entry: entry._id }, { sort: { _id: -1 } });
  const _id = known?._id ?? new mongoose.mongo.ObjectId();
  const at = new Date();
  if (known === null)
    await receipts.insertOne({
      ...{ _id, ...key, entry: entry?._id ?? null, at, lastupdated: null, isClean: false },
      expires: new Date(at.getTime() + auditTrailDays * DAY_MS),
    });
  const target = `${kind}, erased: receipt ${_id.toHexString()}`;
  await recordAction(context, { action: 'record.erase', organizationid, appid, target });
  return _id;
}

function unknownRecord({ tenant, kind, id }: Erasable): Refused {
  const sentence = `There is no ${kind} "${shown(id)}" in ${nameOfTenant(tenant)}, and no trace of one is left.`;
  return new Refused(new Problem(404, 'unknown-record', 'Unknown record', sentence));
}

/**
 * The traces of a record in the collections of the service. The `_id`s of the records to delete are collected
 * beforehand, because they cannot be found afterwards.
 */
class Traces {
  private readonly owners = new Map<string, mongo.ObjectId>();

  constructor(
    private readonly db: mongo.Db,
    private readonly of: Erasable,
  ) {}

  entry(): Promise<LedgerEntry | null> {
    const { tenant, kind, id } = this.of;
    const { organizationid, appid } = tenant;
    return this.db.collection<LedgerEntry>(LEDGER).findOne({ organizationid, appid, kind, id: { $eq: id } });
  }

  /**
   * Deletes the record, and those that would be delivered in its place: records with a numeric `id` that is delivered
   * as the same text.
   */
  async delete(): Promise<number> {
    const { tenant, kind, id } = this.of;
    const records = recordsIn(this.db, kind);
    const texts = await alongIndexIfAny(records, BY_RECORD_ID, (along) =>
      records.find(withIds(tenant, [id]), { projection: { _id: 1 }, ...along }).toArray(),
    );
    const entry = await this.entry();
    const rivals = await this.incomplete.find({ '_id.kind': kind, ...tenant, id, isNumber: true }).toArray();
    const numbers = rivals.map(({ _id }) => _id.owner);
    const owners: unknown[] = [...texts.map(({ _id }) => _id), ...numbers, entry?.owner, entry?.number];
    for (const owner of owners) if (isObjectId(owner)) this.owners.set(owner.toHexString(), owner);
    const { size } = await deleteRecords(this.db, this.of, [id]);
    const claimants = claiming(this.of, id, [...this.owners.values()]);
    const { deletedCount } = await records.deleteMany(claimants, { hint: { _id: 1 } });
    return size + deletedCount;
  }

  /** Whether any trace of the `id` was found, although no record was deleted. Redacts the audit trail to find out. */
  async foundWithoutRecord(): Promise<boolean> {
    if ((await this.entry()) !== null || (await this.countSetAside()) > 0) return true;
    return (await this.redact()) > 0;
  }

  /**
   * Waits until the watcher has processed everything written so far, and no entry of the quarantine concerns the
   * record. Returns false if `over` is aborted first.
   */
  async settled(over: AbortSignal): Promise<boolean> {
    const hello = () => bareCommand(this.db, { hello: 1 }, { within: COMMAND_MS });
    const { at } = await placedReply('the deletion', hello, { within: COMMAND_MS });
    await this.hasten();
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      if ((await hasWatched(this.db, this.of.tenant, at)) && (await this.countSetAside()) === 0) return true;
      if (over.aborted) return false;
      await pause(pauseMs, over);
    }
  }

  /**
   * Removes the traces. Those that the watcher needs to process the deletion are removed only if `isSettled`, which
   * means that the watcher has processed it.
   */
  async remove(isSettled: boolean): Promise<void> {
    const { tenant, kind } = this.of;
    const owners = [...this.owners.values()];
    await this.redact();
    await forgetNames(this.db, { ...tenant, kind });
    const ofRecord = { ids: { $in: owners }, collection: collectionOf(kind) };
    const withoutRecord = { $pull: { ids: { $in: owners } } } as mongo.UpdateFilter<RestampNote>;
    await this.db.collection<RestampNote>(RESTAMPS).updateMany(ofRecord, withoutRecord);
    if (!isSettled) return this.hasten();
    await this.incomplete.deleteMany({ '_id.kind': kind, '_id.owner': { $in: owners } });
    if (kind !== PERSON_KIND) return;
    for (const name of [EMAIL_DUPLICATES, EMAIL_HOLDERS]) await this.removeOfGone(name);
  }

  /**
   * Makes the quarantine entries due at once, so that the leader retries them. Their reason is replaced, because it may
   * quote values.
   */
  private async hasten(): Promise<void> {
    await this.quarantine.updateMany(await this.setAside(), [
      { $set: { reason: REASON, due: '$$NOW', tries: 0 } },
    ]);
  }

  private async countSetAside(): Promise<number> {
    return this.quarantine.countDocuments(await this.setAside());
  }

  /** The quarantine entries of the record, and of others that had its `id`. */
  private async setAside(): Promise<mongo.Filter<SetAside>> {
    const { tenant, kind, id } = this.of;
    const { organizationid, appid } = tenant;
    const identity = { organizationid, appid, id };
    const entry = await this.entry();
    const concerns: Concern[] = [...this.owners.values()].map((owner) => ({ what: 'record', kind, owner }));
    if (entry !== null) concerns.push({ what: 'tombstone', owner: entry._id });
    const known = Object.fromEntries(
      Object.entries(identity).map(([name, value]) => [`known.${name}`, value]),
    );
    return {
      $or: [
        { _id: { $in: concerns } },
        { '_id.kind': kind, $or: [known, { identities: { $elemMatch: identity } }] },
      ],
    };
  }

  /**
   * Replaces the target that names the record in the audit trail, and removes the names of its changed properties.
   * Returns the number of redacted entries.
   */
  private redact(): Promise<number> {
    const { tenant, kind, id } = this.of;
    return redactTarget(this.db, tenant, `${kind} ${id}`, `${kind}, erased`);
  }

  /**
   * Removes the e-mails of members that are gone, which would otherwise stay until the leader's next review of them.
   */
  private async removeOfGone(name: string): Promise<void> {
    const { tenant, kind } = this.of;
    const { organizationid, appid } = tenant;
    const collection = this.db.collection<{ _id: mongo.ObjectId }>(name);
    const record = { from: collectionOf(kind), localField: '_id', foreignField: '_id', as: 'record' };
    const own = { organizationid, appid };
    const gone = await collection
      .aggregate<{ _id: mongo.ObjectId }>([
        { $match: { $or: [own, { wanted: { $elemMatch: own } }] } },
        { $project: { _id: 1 } },
        { $lookup: { ...record, pipeline: [{ $project: { _id: 1 } }] } },
        { $match: { 'record.0': { $exists: false } } },
      ])
      .toArray();
    await collection.deleteMany({ _id: { $in: gone.map(({ _id }) => _id) } });
  }

  private get quarantine(): mongo.Collection<SetAside> {
    return this.db.collection<SetAside>(QUARANTINE);
  }

  private get incomplete(): mongo.Collection<IncompleteIdentity> {
    return this.db.collection<IncompleteIdentity>(INCOMPLETE_IDENTITIES);
  }
}
