import mongoose, { type mongo } from 'mongoose';
import { refusedAsDuplicate, statedIndex, CLOCK, isDuplicateKey } from '../../../platform/database/plain.js';
import { type Kind, PERSON_KIND } from '../../../kinds/index.js';
import { recordsIn, type Tenant, ofTenant, doubledNameIn, STAMP } from '../../../record/index.js';
import type { RecordLine, GivenRecord } from './lines.js';
import { literal, shown } from '../../../platform/common/index.js';

/** The ids that running mirrors have read from their files. Its only index is that of `_id`, which every query uses. */
const IMPORTS = 'tidemark.imports';

/** An id in the file of a mirror. */
interface SeenId {
  _id: { run: mongo.ObjectId; id: string };
}

const BATCH = 1000;
const FIRST = new mongoose.mongo.MinKey();
const LAST = new mongoose.mongo.MaxKey();
const IN_FEED_ORDER = { organizationid: 1, appid: 1, _id: 1 } as const;

interface StandingRecord {
  _id: unknown;
  id?: unknown;
}

/** If a mirror was killed, the first mirror that begins this much later removes its ids (seconds). */
const LEFT_FOR_S = 7 * 86_400;

/**
 * Makes the records of an application and kind a mirror of a file. While the file is read, its ids are kept in a
 * collection, so that memory does not grow with the file. All mirrors share one collection: to drop a collection of its
 * own, a mirror would need the right to drop any collection.
 */
export class Mirror {
  private readonly run = new mongoose.mongo.ObjectId();
  private readonly seen: mongo.Collection<SeenId>;
  private readonly records: mongo.Collection;
  private begun: Promise<unknown> | undefined;

  constructor(
    db: mongo.Db,
    private readonly tenant: Tenant,
    kind: Kind,
  ) {
    this.seen = db.collection<SeenId>(IMPORTS);
    this.records = recordsIn(db, kind);
  }

  /** Stores the ids of these records. Written with majority, like every write, so that the removal sees them. */
  async see(lines: RecordLine[]): Promise<void> {
    await (this.begun ??= this.removeLeft());
    const ids = lines.map(({ record }) => ({ _id: { run: this.run, id: record.id } }));
    await this.seen.insertMany(ids, { ordered: false }).catch(refusedAsDuplicate);
  }

  /**
   * Removes the records whose id is not in the file, until `stop` is aborted. Calls `onRemoved` after each batch with its
   * number of removed records. Returns whether all of them were removed.
   */
  async removeUnseen(onRemoved: (removed: number) => void, stop?: AbortSignal): Promise<boolean> {
    let batch: StandingRecord[] = [];
    const all = this.records.find<StandingRecord>(ofTenant(this.tenant), {
      projection: { id: 1 },
      sort: { _id: 1 },
      hint: await statedIndex(this.records, IN_FEED_ORDER),
      batchSize: BATCH,
    });
    for await (const record of all) {
      batch.push(record);
      if (batch.length < BATCH) continue;
      if (stop?.aborted === true) return false;
      onRemoved(await this.removeUnseenOf(batch));
      batch = [];
    }
    if (stop?.aborted === true) return false;
    onRemoved(await this.removeUnseenOf(batch));
    return true;
  }

  /** Removes the ids of this mirror. */
  async close(): Promise<void> {
    await this.seen.deleteMany({ _id: { $gte: idOf(this.run, FIRST), $lte: idOf(this.run, LAST) } });
  }

  /**
   * Removes the ids of killed mirrors. One range contains them all: the first bytes of `run` are the time at which the
   * mirror began, and MongoDB compares embedded documents field by field.
   */
  private async removeLeft(): Promise<void> {
    const seconds = Math.floor(Date.now() / 1000) - LEFT_FOR_S;
    const oldest = mongoose.mongo.ObjectId.createFromTime(seconds);
    await this.seen.deleteMany({ _id: { $lt: idOf(oldest, FIRST) } });
  }

  private async removeUnseenOf(records: StandingRecord[]): Promise<number> {
    if (records.length === 0) return 0;
    const ids = records.map(({ id }) => idOf(this.run, id));
    const found = await this.seen.find({ _id: { $in: ids } }).toArray();
    const seen = new Set<unknown>(found.map(({ _id }) => _id.id));
    const surplus = records.filter(({ id }) => !seen.has(id)).map(({ _id }) => _id);
    if (surplus.length === 0) return 0;
    const unseen = { ...ofTenant(this.tenant), _id: { $in: surplus as mongo.ObjectId[] } };
    return (await this.records.deleteMany(unseen)).deletedCount;
  }
}

/** The `_id` of a stored id, or a bound of a range of them. */
function idOf(run: mongo.ObjectId, id: unknown): SeenId['_id'] {
  return { run, id: id as string };
}

const { parseToElements, ByteUtils } = mongoose.mongo.BSON.onDemand;

/** The result of writing a batch. */
export interface WriteOutcome {
  created: number;
  changed: number;
  /** Refused lines, with the reasons. */
  refused: { number: number; reason: string }[];
}

/** A destination for lines. */
export interface RecordSink {
  /** Processes lines with different ids. Throws only if the database is unavailable. */
  write(lines: RecordLine[]): Promise<WriteOutcome>;
}

export const EMAIL_TAKEN = 'another member has this e-mail already';

/** Why a record that contains a name twice is not changed. */
export function whyDoubled(kind: Kind, name: string): string {
  return (
    `the stored ${kind} has "${shown(name)}" more than once. Correct it with the program that wrote the record, ` +
    'or delete the record first (record delete)'
  );
}

/** Why the database refuses a line. */
export function refusalOf(error: unknown): string {
  if (isDuplicateKey(error) && isEmailConflict(error)) return EMAIL_TAKEN;
  return `the database refuses it: ${(error as Error).message.replace(/^PlanExecutor error.*? :: caused by :: /, '')}`;
}

export function isEmailConflict(error: mongo.MongoServerError): boolean {
  return 'emailkey' in ((error.keyPattern ?? {}) as object);
}

/** In BSON, the length precedes a string and a NUL follows it (bytes). */
const BEFORE_TEXT = 4;
const AFTER_TEXT = 1;

/** By `id`, a name that occurs more than once in the record. The records are read as raw bytes. */
export async function doubledAmong(
  collection: mongo.Collection,
  query: mongo.Document,
  options: mongo.FindOptions,
): Promise<Map<string, string>> {
  const doubled = new Map<string, string>();
  const records = collection.find(query, { ...options, raw: true }) as unknown as AsyncIterable<Uint8Array>;
  for await (const record of records) {
    const name = doubledNameIn(record);
    if (name !== undefined) doubled.set(idIn(record), name);
  }
  return doubled;
}

/** The first `id`, which is also the one that MongoDB uses. The query has matched it, so it is a string. */
function idIn(record: Uint8Array): string {
  for (const [, nameAt, nameLength, at, length] of parseToElements(record)) {
    if (ByteUtils.toUTF8(record, nameAt, nameAt + nameLength, false) !== 'id') continue;
    return ByteUtils.toUTF8(record, at + BEFORE_TEXT, at + length - AFTER_TEXT, false);
  }
  return '';
}

/** The properties of a line except `id`. All but `data` are optional. */
const GIVEN = ['data', 'channels', 'type', 'createDate', 'createdBy'] as const;

/** True if the stored record has every value that the line gives. */
const IS_EQUAL = {
  $and: GIVEN.map((name) => ({ $eq: [`$${name}`, { $ifNull: [`$$line.${name}`, `$${name}`] }] })),
};

/** The stored record. For a member, it lacks `emailkey`: the line gives a new one, or none if it has no e-mail. */
function storedFields(kind: Kind): unknown {
  return kind === PERSON_KIND ? { $unsetField: { field: 'emailkey', input: '$$ROOT' } } : '$$ROOT';
}

/**
 * The update of all existing records of a batch: one statement, in which each record finds its own line. (One statement per
 * record takes MongoDB twice as long.) A record that is already equal is not changed.
 */
export function changePipeline(kind: Kind, records: GivenRecord[]): mongo.Document[] {
  const line = ownLine(records);
  const changed = { $mergeObjects: [storedFields(kind), '$$line', { lastupdated: STAMP }] };
  return [{ $replaceWith: { $let: { vars: { line }, in: { $cond: [IS_EQUAL, '$$ROOT', changed] } } } }];
}

/** The stage that computes for each record of a batch whether it equals its line. */
export function equalityStage(records: GivenRecord[]): mongo.Document {
  const isEqual = { $let: { vars: { line: ownLine(records) }, in: IS_EQUAL } };
  return { $project: { _id: 0, id: 1, isEqual } };
}

/** An expression for the line of the current record. */
function ownLine(records: GivenRecord[]): mongo.Document {
  const ids = records.map(({ id }) => id);
  return { $arrayElemAt: [literal(records), { $indexOfArray: [literal(ids), '$id'] }] };
}

/**
 * The aggregation that inserts these records, stamped with the database's clock in the same command. (Upserts take
 * MongoDB five times as long.) Its result does not depend on the collection on which it runs: the facet returns one
 * document, even for an empty collection. None of the records may exist: if another writer has inserted one meanwhile,
 * the command fails.
 */
export function insertPipeline(
  collection: string,
  tenant: Tenant,
  kind: Kind,
  createdBy: string,
  records: GivenRecord[],
): mongo.Document[] {
  const { organizationid, appid } = tenant;
  const defaults = {
    ...{ organizationid: literal(organizationid), appid: literal(appid), type: literal(kind) },
    ...{ createDate: CLOCK, createdBy: literal(createdBy) },
  };
  return [
    { $limit: 1 },
    { $facet: { nothing: [{ $limit: 1 }] } },
    { $project: { line: literal(records) } },
    { $unwind: '$line' },
    { $replaceWith: { $mergeObjects: [defaults, '$line', { lastupdated: CLOCK }] } },
    { $merge: { into: collection, on: '_id', whenMatched: 'fail', whenNotMatched: 'insert' } },
  ];
}
