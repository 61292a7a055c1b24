import type { mongo } from 'mongoose';
import { literal } from '../platform/common/index.js';
import { alongIndexIfAny } from '../platform/database/plain.js';
import { recordsIn, BY_RECORD_ID, idTextAt, ofTenant, type Tenant, withIds } from '../record/index.js';
import type { Kind } from '../kinds/index.js';
import { LEDGER, type LedgerEntry } from '../replication/store/plain.js';

/** The records of one kind of an application. */
export interface RecordScope {
  tenant: Tenant;
  kind: Kind;
}

/**
 * Deletes the records with these ids, a thousand at most, and returns the ids for which a record was found: one with
 * the string as its `id`, or one with a numeric `id` that is delivered as this string. A dry run deletes nothing.
 */
export async function deleteRecords(
  db: mongo.Db,
  scope: RecordScope,
  ids: string[],
  isDryRun = false,
): Promise<Set<string>> {
  const records = recordsIn(db, scope.kind);
  const projection = { _id: 0, id: 1 };
  const texts = await alongIndexIfAny(records, BY_RECORD_ID, (along) =>
    records.find<{ id: string }>(withIds(scope.tenant, ids), { projection, ...along }).toArray(),
  );
  const there = new Set(texts.map(({ id }) => id));
  const numbers = await numbered(
    db,
    scope,
    ids.filter((id) => !there.has(id)),
  );
  if (!isDryRun) {
    if (there.size > 0)
      await alongIndexIfAny(records, BY_RECORD_ID, (along) =>
        records.deleteMany(withIds(scope.tenant, [...there]), along),
      );
    const deletions = numbers.map((entry) => ({
      deleteOne: { filter: delivered(scope, entry), hint: { _id: 1 } },
    }));
    if (deletions.length > 0) await records.bulkWrite(deletions, { ordered: false });
  }
  return new Set([...there, ...numbers.map(({ id }) => id)]);
}

/** Ledger entries of records that have a numeric `id`, are delivered under these strings, and still exist. */
async function numbered(
  db: mongo.Db,
  { tenant: { organizationid, appid }, kind }: RecordScope,
  ids: string[],
): Promise<LedgerEntry[]> {
  if (ids.length === 0) return [];
  const entries = await db
    .collection<LedgerEntry>(LEDGER)
    .find({ organizationid, appid, kind, id: { $in: ids }, alive: true, isNumber: true })
    .toArray();
  if (entries.length === 0) return [];
  const owners = { ...ofTenant({ organizationid, appid }), _id: { $in: entries.map(({ owner }) => owner!) } };
  const found = await recordsIn(db, kind)
    .aggregate<{ _id: mongo.ObjectId; text: unknown }>(
      [{ $match: owners }, { $project: { text: idTextAt('$id') } }],
      { hint: { _id: 1 } },
    )
    .toArray();
  const idTexts = new Map(found.map(({ _id, text }) => [_id.toHexString(), text]));
  return entries.filter(({ id, owner }) => idTexts.get(owner!.toHexString()) === id);
}

function delivered(scope: RecordScope, { id, owner }: LedgerEntry): mongo.Filter<mongo.Document> {
  return claiming(scope, id, [owner!]);
}

/** The query for those of the given records whose `id` is this string, or a number that is delivered as this string. */
export function claiming(
  { tenant }: RecordScope,
  id: string,
  records: mongo.ObjectId[],
): mongo.Filter<mongo.Document> {
  return {
    ...ofTenant(tenant),
    _id: { $in: records },
    $expr: { $eq: [idTextAt('$id'), literal(id)] },
  };
}
