import { setImmediate as turn } from 'node:timers/promises';
import Database from 'libsql';
import type { AppliedPage, CopyState, CopyStore, HeldRecord, Mended, ToldUpsert } from '../harvest/index.js';
import type { JsonSchema } from '../schema.js';
import { KnownState } from './known-state.js';
import { assertTableName, assertTaken, quoted, STATES, textsOf } from './rows.js';
import { addComputedColumns } from './sqlite-columns.js';
import { assertWellFormed, assertWhole } from './well-formed.js';

/** Rows that one statement writes: a call for each costs half as much again. */
const TOGETHER = 20;
/** Rows that are read at once. */
const BATCH = 10_000;
/** Milliseconds that a reader of the file may hold it. */
const LOCKED_MS = 10_000;

/** The driver cuts a text that it reads at U+0000, and bytes not. */
const WHOLE_ID = 'CASE WHEN instr(id, char(0)) > 0 THEN CAST(id AS BLOB) ELSE id END';

/** Too large, or refused by a constraint, an index or a trigger of the user's own. */
const OF_A_ROW = /^SQLITE_(TOOBIG|MISMATCH|CONSTRAINT\w*)$/;
/** SQLite's general error is that of an expression in an index or trigger too; these are of any row. */
const OF_THE_SCHEMA = /no such|has no column|syntax error|already exists/;

const COLUMNS = 'id, lastupdated, type, createDate, createdBy, data, channels, generation';

interface HeldRow {
  place: number;
  id: string | ArrayBuffer;
  lastupdated: string;
  generation: number;
}

function statementsOf(database: Database.Database, name: string) {
  const table = quoted(name);
  const kept = COLUMNS.split(', ').slice(1);
  const replaced = kept.map((column) => `${column} = excluded.${column}`).join(', ');
  const insert = (rows: number) => {
    const values = new Array<string>(rows).fill('(?, ?, ?, ?, ?, ?, ?, ?)').join(', ');
    return `INSERT INTO ${table} (${COLUMNS}) VALUES ${values} ON CONFLICT (id) DO UPDATE SET ${replaced}`;
  };
  const unlessOlder = 'WHERE excluded.lastupdated >= lastupdated';
  return {
    upsert: database.prepare(`${insert(1)} ${unlessOlder}`),
    upsertTogether: database.prepare(`${insert(TOGETHER)} ${unlessOlder}`),
    mark: database.prepare(`UPDATE ${table} SET generation = ? WHERE id = ?`),
    remove: database.prepare(`DELETE FROM ${table} WHERE id = ? AND lastupdated <= ?`),
    kept: database.prepare(`SELECT 1 FROM ${table} WHERE id = ? AND lastupdated <= ?`),
    taken: database.prepare(`SELECT 1 FROM ${table} WHERE id = ? AND lastupdated >= ? AND generation = ?`),
    sweep: database.prepare(`DELETE FROM ${table} WHERE generation < ?`),
    unswept: database.prepare(`SELECT 1 FROM ${table} WHERE generation < ? LIMIT 1`),
    put: database.prepare(insert(1)),
    drop: database.prepare(`DELETE FROM ${table} WHERE id = ?`),
    has: database.prepare(`SELECT 1 FROM ${table} WHERE id = ?`),
    newest: database.prepare(`SELECT max(generation) AS newest FROM ${table}`),
    held: database.prepare(
      `SELECT rowid AS place, ${WHOLE_ID} AS id, lastupdated, generation FROM ${table} WHERE rowid > ? ORDER BY rowid LIMIT ${BATCH}`,
    ),
    state: database.prepare(`SELECT state FROM ${STATES} WHERE name = ?`),
    begin: database.prepare(`INSERT OR IGNORE INTO ${STATES} (name, state) VALUES (?, ?)`),
    go: database.prepare(`UPDATE ${STATES} SET state = ? WHERE name = ? AND state = ?`),
  };
}

/** A copy in a table of an SQLite file: `id`, `lastupdated`, `type`, `createDate`, `createdBy`, `data` and `channels` as JSON. */
export class SqliteStore implements CopyStore {
  private readonly known: KnownState;
  private readonly statements: ReturnType<typeof statementsOf>;

  private constructor(
    private readonly database: Database.Database,
    private readonly table: string,
    where: string,
  ) {
    this.known = new KnownState(where);
    this.statements = statementsOf(database, table);
  }

  /** Opens a file, and makes it and its table where they are not there. */
  static open(path: string, table: string): SqliteStore {
    assertTableName(table);
    const database = opened(path);
    // A write-ahead log that is synced at checkpoints: a power failure takes back whole pages, items and cursor together.
    for (const pragma of ['journal_mode = WAL', 'synchronous = NORMAL', `busy_timeout = ${LOCKED_MS}`])
      database.pragma(pragma);
    database.exec(`
      CREATE TABLE IF NOT EXISTS ${quoted(table)} (
        id TEXT PRIMARY KEY NOT NULL, lastupdated TEXT NOT NULL, type TEXT NOT NULL, createDate TEXT NOT NULL,
        createdBy TEXT NOT NULL, data TEXT NOT NULL, channels TEXT, generation INTEGER NOT NULL
      );
      CREATE TABLE IF NOT EXISTS ${STATES} (name TEXT PRIMARY KEY NOT NULL, state TEXT NOT NULL);
    `);
    return new SqliteStore(database, nameAsMade(database, table), path);
  }

  state(): Promise<CopyState | undefined> {
    const row = this.statements.state.get(this.table) as { state: string } | undefined;
    return Promise.resolve(this.known.read(row?.state));
  }

  newestGeneration(): Promise<number | undefined> {
    const { newest } = this.statements.newest.get() as { newest: number | null };
    return Promise.resolve(newest ?? undefined);
  }

  apply({ changes, state }: AppliedPage): Promise<void> {
    const upserts = changes.filter((change) => change.op === 'upsert');
    return this.inTransaction(state, () => {
      assertWellFormed(changes);
      for (let at = 0; at < upserts.length; at += TOGETHER)
        this.upsert(upserts.slice(at, at + TOGETHER), state);
      const { remove, kept } = this.statements;
      for (const { op, id, lastupdated } of changes)
        if (op === 'delete' && remove.run(id, lastupdated).changes === 0)
          assertTaken(kept.get(id, lastupdated) === undefined);
    });
  }

  async sweep(state: CopyState): Promise<number> {
    const { sweep, unswept } = this.statements;
    let removed = 0;
    await this.inTransaction(state, () => {
      removed = sweep.run(state.generation).changes;
      assertTaken(unswept.get(state.generation) === undefined);
    });
    return removed;
  }

  has(id: string): Promise<boolean> {
    return new Promise((resolve) => resolve(this.statements.has.get(assertWhole(id)) !== undefined));
  }

  async *held(): AsyncIterable<HeldRecord[]> {
    for (let behind = 0; ;) {
      const rows = this.statements.held.all(behind) as HeldRow[];
      if (rows.length === 0) return;
      yield rows.map(({ id, lastupdated, generation }) => ({ id: textOf(id), lastupdated, generation }));
      await turn();
      behind = rows.at(-1)!.place;
    }
  }

  isUnfit(error: unknown): boolean {
    if (error instanceof RangeError) return true;
    const { code, message } = error as { code?: unknown; message: string };
    if (typeof code !== 'string') return false;
    return OF_A_ROW.test(code) || (code === 'SQLITE_ERROR' && !OF_THE_SCHEMA.test(message));
  }

  mend({ upserts, removed, state }: Mended): Promise<void> {
    return this.inTransaction(state, () => {
      assertWellFormed(upserts);
      const { drop, has, put } = this.statements;
      removed.forEach(assertWhole);
      for (const id of removed) if (drop.run(id).changes === 0) assertTaken(has.get(id) === undefined);
      for (const upsert of upserts) assertTaken(put.run(...this.rowOf(upsert, state)).changes === 1);
    });
  }

  /** The database computes them from `data` when they are read, so they are right for all records, and cost no write anything. */
  addColumns(schema: JsonSchema): Promise<void> {
    return new Promise((resolve) => resolve(addComputedColumns(this.database, this.table, schema)));
  }

  close(): Promise<void> {
    this.database.close();
    return Promise.resolve();
  }

  /** What is older than what is held is not written, and marks only. */
  private upsert(upserts: ToldUpsert[], state: CopyState): void {
    const { upsert, upsertTogether, mark, taken } = this.statements;
    const rows = upserts.map((one) => this.rowOf(one, state));
    const written =
      rows.length === TOGETHER
        ? upsertTogether.run(...rows.flat()).changes
        : rows.reduce((sum, row) => sum + upsert.run(...row).changes, 0);
    if (written === rows.length) return;
    for (const { id, lastupdated } of upserts) {
      mark.run(state.generation, id);
      assertTaken(taken.get(id, lastupdated, state.generation) !== undefined);
    }
  }

  private rowOf(upsert: ToldUpsert, { generation }: CopyState): (string | number | null)[] {
    return [...textsOf(upsert), generation];
  }

  private inTransaction(state: CopyState, work: () => void): Promise<void> {
    return new Promise((resolve) => resolve(this.transact(state, work)));
  }

  private transact(state: CopyState, work: () => void): void {
    const text = JSON.stringify(state);
    this.database.exec('BEGIN IMMEDIATE');
    try {
      const { before } = this.known;
      const { begin, go } = this.statements;
      const { changes } =
        before === undefined ? begin.run(this.table, text) : go.run(text, this.table, before);
      this.known.assertOurs(changes === 1);
      work();
      this.database.exec('COMMIT');
    } catch (error) {
      if (this.database.inTransaction) this.database.exec('ROLLBACK');
      throw error;
    }
    this.known.stored(text);
  }
}

/** SQLite takes `products` and `Products` for one table, so they have one state. */
function nameAsMade(database: Database.Database, table: string): string {
  const query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name = ? COLLATE NOCASE";
  const made = database.prepare(query).get(table) as { name: string } | undefined;
  return made?.name ?? table;
}

function textOf(id: string | ArrayBuffer): string {
  return typeof id === 'string' ? id : Buffer.from(id).toString();
}

/** The driver says no more than a number where SQLite cannot open a file. */
function opened(path: string): Database.Database {
  try {
    return new Database(path, { timeout: LOCKED_MS });
  } catch (error) {
    if (!/: 14"\)$/.test((error as Error).message)) throw error;
    throw new Error('SQLite cannot open it: it is a directory, or its permissions do not allow it.', {
      cause: error,
    });
  }
}
