import {
  BSON,
  type Binary,
  type ClientSession,
  type Collection,
  type Db,
  type Document,
  MongoBulkWriteError,
  MongoClient,
  MongoInvalidArgumentError,
  MongoServerError,
} from 'mongodb';
import type { AppliedPage, CopyState, CopyStore, HeldRecord, Mended, ToldUpsert } from '../harvest/index.js';
import { decide } from './decide.js';
import { KnownState } from './known-state.js';
import { assertTableName, STATES } from './rows.js';
import { assertWellFormed, assertWhole } from './well-formed.js';
import { wholeNumbersIn } from './whole-numbers.js';

/** Documents that are told, or removed, at once. */
const BATCH = 10_000;

/**
 * What MongoDB says of a whole command for a single document: too large, too deep, one that it cannot store, or that the
 * validator of the collection refuses.
 */
const OF_A_DOCUMENT = new Set([10334, 121, 15, 17280, 17419, 17420, 22, 52, 56, 57]);
/** What it says of one of several writes, although each would fail: no room on the disk, or in the quota of Atlas. */
const OF_THE_SERVER = new Set([14031, 8000]);

/** Without a database in the address the driver takes `test`. */
const NAMES_DATABASE = /^[^:]+:\/\/[^/?]+\/[^?]/;
/** Of MongoDB itself, and of Atlas. */
const LOGIN_REFUSED = new Set([18, 8000]);
const UNAUTHORIZED = 13;

/** A record; `_id` is its `id`. */
interface HeldDocument extends Document {
  _id: string;
  lastupdated: string;
  generation: number;
}

interface StateDocument {
  _id: string;
  state: string;
}

interface SessionDocument {
  _id: string;
  session?: Binary | undefined;
}

/** A copy in a collection of a replica set: `_id` is the `id`; the other fields are those of the item. */
export class MongodbStore implements CopyStore {
  private readonly known: KnownState;

  private constructor(
    private readonly client: MongoClient,
    private readonly session: ClientSession,
    private readonly records: Collection<HeldDocument>,
    private readonly states: Collection<StateDocument>,
  ) {
    this.known = new KnownState(`the collection ${records.collectionName}`);
  }

  /** Connects to `mongodb://…/database`. A server that is no replica set has no transactions, and is an error. */
  static async open(uri: string, table: string): Promise<MongodbStore> {
    assertTableName(table);
    if (!NAMES_DATABASE.test(uri))
      throw new RangeError('the address names no database. Add one, such as mongodb://host/copies.');
    const client = new MongoClient(uri, { writeConcern: { w: 'majority' } });
    try {
      await client.connect();
      const database = client.db();
      const { setName, msg } = await database.admin().command({ hello: 1 });
      if (setName === undefined && msg !== 'isdbgrid')
        throw new Error(
          'This MongoDB is no replica set, so it has no transactions. Make it one of one member.',
        );
      const records = database.collection<HeldDocument>(table);
      await records.createIndex({ generation: 1 });
      const session = client.startSession();
      await takeOver(database, session, table);
      return new MongodbStore(client, session, records, database.collection<StateDocument>(STATES));
    } catch (error) {
      await client.close();
      throw explained(error);
    }
  }

  async state(): Promise<CopyState | undefined> {
    const found = await this.states.findOne({ _id: this.records.collectionName });
    return this.known.read(found?.state);
  }

  async newestGeneration(): Promise<number | undefined> {
    const newest = await this.records.findOne({}, { sort: { generation: -1 } });
    return newest?.generation;
  }

  async apply({ changes, state }: AppliedPage): Promise<void> {
    assertWellFormed(changes);
    return this.inTransaction(state, async (session) => {
      const ids = changes.map(({ id }) => id);
      const projection = { lastupdated: 1 };
      const held = await this.records.find({ _id: { $in: ids } }, { session, projection }).toArray();
      const stamps = new Map(held.map(({ _id, lastupdated }) => [_id, lastupdated]));
      const { upserts, marked, removed } = decide(changes, stamps);
      const added = upserts.filter(({ id }) => !stamps.has(id));
      await this.add(added, state, session);
      await this.write({ upserts: upserts.filter(({ id }) => stamps.has(id)), removed, state }, session);
      const marks = { $set: { generation: state.generation } };
      if (marked.length > 0) await this.records.updateMany({ _id: { $in: marked } }, marks, { session });
    });
  }

  async sweep(state: CopyState): Promise<number> {
    const old = { generation: { $lt: state.generation } };
    let removed = 0;
    for (;;) {
      const found = await this.records.find(old, { projection: { _id: 1 }, limit: BATCH }).toArray();
      if (found.length === 0) break;
      const some = { ...old, _id: { $in: found.map(({ _id }) => _id) } };
      removed += (await this.records.deleteMany(some)).deletedCount;
    }
    await this.inTransaction(state, () => Promise.resolve());
    return removed;
  }

  async has(id: string): Promise<boolean> {
    const found = await this.records.findOne({ _id: assertWhole(id) }, { projection: { _id: 1 } });
    return found !== null;
  }

  async *held(): AsyncIterable<HeldRecord[]> {
    const projection = { lastupdated: 1, generation: 1 };
    let batch: HeldRecord[] = [];
    for await (const { _id: id, ...held } of this.records.find({}, { projection, batchSize: BATCH })) {
      batch.push({ id, lastupdated: held.lastupdated, generation: held.generation });
      if (batch.length < BATCH) continue;
      yield batch;
      batch = [];
    }
    if (batch.length > 0) yield batch;
  }

  /**
   * The driver itself refuses what it cannot write as BSON; within a bulk that is the cause of the bulk's error. An error of a
   * single write is of its document, whatever it says: an index or a validator of the user's own has many reasons.
   */
  isUnfit(error: unknown): boolean {
    if (error instanceof MongoBulkWriteError) {
      const { errorResponse } = error;
      if (errorResponse instanceof Error) return this.isUnfit(errorResponse);
      const codes = [error.writeErrors].flat().map(({ code }) => code);
      if (codes.length > 0)
        return (
          !error.hasErrorLabel('TransientTransactionError') && !codes.some((code) => OF_THE_SERVER.has(code))
        );
    }
    if (error instanceof MongoServerError) return OF_A_DOCUMENT.has(Number(error.code));
    return [BSON.BSONError, RangeError, MongoInvalidArgumentError].some(
      (refusal) => error instanceof refusal,
    );
  }

  async mend(mended: Mended): Promise<void> {
    assertWellFormed(mended.upserts);
    mended.removed.forEach(assertWhole);
    return this.inTransaction(mended.state, (session) => this.write(mended, session));
  }

  async close(): Promise<void> {
    await this.session.endSession();
    await this.client.close();
  }

  /** What is not held yet: to replace what may be there takes twice as long. */
  private async add(upserts: ToldUpsert[], state: CopyState, session: ClientSession): Promise<void> {
    const documents = upserts.map((upsert) => documentOf(upsert, state));
    if (documents.length > 0) await this.records.insertMany(documents, { session });
  }

  private async write({ upserts, removed, state }: Mended, session: ClientSession): Promise<void> {
    const replaced = upserts.map((upsert) => ({
      replaceOne: { filter: { _id: upsert.id }, replacement: documentOf(upsert, state), upsert: true },
    }));
    if (replaced.length > 0) await this.records.bulkWrite(replaced, { session });
    if (removed.length > 0) await this.records.deleteMany({ _id: { $in: removed } }, { session });
  }

  private async inTransaction(
    state: CopyState,
    work: (session: ClientSession) => Promise<void>,
  ): Promise<void> {
    const text = JSON.stringify(state);
    const { before } = this.known;
    const _id = this.records.collectionName;
    const { session } = this;
    await session.withTransaction(async () => {
      const held = await this.states.findOneAndReplace({ _id }, { state: text }, { session, upsert: true });
      this.known.assertOurs(held?.state === before);
      await work(session);
    });
    this.known.stored(text);
  }
}

/** What the server says to a user, in words that say what to do. */
function explained(error: unknown): unknown {
  const code = error instanceof MongoServerError ? Number(error.code) : undefined;
  if (code === UNAUTHORIZED)
    return new Error(
      'MongoDB does not let this user write. Put the name and password of one with the role readWrite into the address.',
      { cause: error },
    );
  if (code === undefined || !LOGIN_REFUSED.has(code)) return error;
  return new Error(
    'MongoDB refuses the user name or the password. Correct them, or name in authSource the database in which the user was ' +
      'made, such as authSource=admin.',
    { cause: error },
  );
}

/**
 * A harvest that was killed within a transaction leaves it open, and what it wrote locked, for a minute. So each one notes
 * its session, and ends that of the one before it.
 */
async function takeOver(database: Db, session: ClientSession, table: string): Promise<void> {
  const sessions = database.collection<SessionDocument>(STATES);
  const _id = `${table}/session`;
  const before = await sessions.findOneAndReplace({ _id }, { session: session.id?.id }, { upsert: true });
  if (before?.session !== undefined) await database.command({ killSessions: [{ id: before.session }] });
}

function documentOf({ op: _op, id, ...fields }: ToldUpsert, { generation }: CopyState): HeldDocument {
  return { _id: id, ...(wholeNumbersIn(fields) as typeof fields), generation };
}
