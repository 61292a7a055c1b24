import pg from 'pg';
import type {
  AppliedPage,
  CopyState,
  CopyStore,
  HeldRecord,
  Mended,
  ToldDelete,
  ToldUpsert,
} from '../harvest/index.js';
import type { JsonSchema } from '../schema.js';
import { KnownState } from './known-state.js';
import { columnParts, PostgresColumns } from './postgres-columns.js';
import { assertTableName, assertTaken, quoted, STATES, textsOf } from './rows.js';
import { textArray } from './text-array.js';
import { assertWellFormed, assertWhole } from './well-formed.js';

/** Rows that are told at once. */
const BATCH = 10_000;
/** Milliseconds that the server may take to let a client in, and that others may hold what is needed. */
const CONNECT_MS = 30_000;
const LOCKED_MS = 10_000;
/** Milliseconds without an answer after which the system asks whether the server is still there: a statement has no time limit. */
const QUIET_MS = 30_000;
/** Within a transaction: a pooler between refuses it as an option of the connection, and gives the next one to others. */
const BEGIN = `BEGIN; SET LOCAL lock_timeout = ${LOCKED_MS}`;
/** The classes of errors about values and constraints, and the limits of a row. */
const OF_A_ROW = /^(22|23|54000$)/;
/** Of any row: about the connection, its transaction, the resources and the operation of the server. */
const OF_THE_SERVER = /^(08|25|26|40|53|55|57|58|XX)/;

/** `insufficient_privilege`: a right that is missing, or a row that a policy of the table refuses. */
const REFUSED = '42501';
/** Where the server looks at each row, whatever language its messages have. */
const AT_A_ROW = 'ExecWithCheckOptions';

const COLUMNS = ['id', 'lastupdated', 'type', '"createDate"', '"createdBy"', 'data', 'channels'];
const TOLD = [...COLUMNS.slice(0, -2), 'data::json', 'channels::json'];

/**
 * A copy in a table: timestamps as the texts that the service tells, which order as they are; `data` and `channels` as `json`,
 * which takes every text, those with U+0000 too.
 */
export class PostgresStore implements CopyStore {
  private readonly known: KnownState;
  private readonly columns: PostgresColumns;

  private constructor(
    private readonly client: pg.Client,
    private readonly table: string,
  ) {
    this.known = new KnownState(`the table ${table}`);
    this.columns = new PostgresColumns(client, table, BEGIN);
  }

  /** Connects to `postgres://…/database`, and makes the table where it is not there. */
  static async open(uri: string, table: string): Promise<PostgresStore> {
    assertTableName(table);
    const client = new pg.Client({
      ...{ connectionString: uri, connectionTimeoutMillis: CONNECT_MS },
      ...{ keepAlive: true, keepAliveInitialDelayMillis: QUIET_MS },
    });
    // An idle connection may end; the next query then reports the failure.
    client.on('error', () => undefined);
    await client.connect();
    try {
      await client.query(`
        ${BEGIN};
        CREATE TABLE IF NOT EXISTS ${quoted(table)} (
          id text COLLATE "C" PRIMARY KEY, lastupdated text COLLATE "C" NOT NULL, type text NOT NULL,
          "createDate" text NOT NULL, "createdBy" text NOT NULL, data json NOT NULL, channels json,
          generation integer NOT NULL
        );
        CREATE TABLE IF NOT EXISTS ${STATES} (name text PRIMARY KEY, state text NOT NULL);
        COMMIT;
      `);
      const store = new PostgresStore(client, table);
      await store.columns.load();
      return store;
    } catch (error) {
      await client.end();
      throw error;
    }
  }

  async state(): Promise<CopyState | undefined> {
    const query = `SELECT state FROM ${STATES} WHERE name = $1`;
    const { rows } = await this.read<{ state: string }>(query, [this.table]);
    return this.known.read(rows[0]?.state);
  }

  async newestGeneration(): Promise<number | undefined> {
    const query = `SELECT max(generation) AS newest FROM ${quoted(this.table)}`;
    const { rows } = await this.read<{ newest: number | null }>(query);
    return rows[0]?.newest ?? undefined;
  }

  apply({ changes, state }: AppliedPage): Promise<void> {
    const upserts = changes.filter((change) => change.op === 'upsert');
    const deletes = changes.filter((change) => change.op === 'delete');
    return this.inTransaction(state, async () => {
      assertWellFormed(changes);
      const written = await this.insert(upserts, state, 'WHERE excluded.lastupdated >= held.lastupdated');
      if (written < upserts.length) {
        await this.mark(upserts, state);
        await this.assertHeld(upserts, state);
      }
      if (deletes.length > 0) await this.remove(deletes);
    });
  }

  async sweep(state: CopyState): Promise<number> {
    let removed = 0;
    await this.inTransaction(state, async () => {
      const old = `FROM ${quoted(this.table)} WHERE generation < $1`;
      removed = (await this.client.query(`DELETE ${old}`, [state.generation])).rowCount ?? 0;
      const { rowCount } = await this.client.query(`SELECT 1 ${old} LIMIT 1`, [state.generation]);
      assertTaken(rowCount === 0);
    });
    return removed;
  }

  async has(id: string): Promise<boolean> {
    const query = `SELECT 1 FROM ${quoted(this.table)} WHERE id = $1`;
    const { rowCount } = await this.read(query, [assertWhole(id)]);
    return rowCount === 1;
  }

  async *held(): AsyncIterable<HeldRecord[]> {
    const behind = '($1::text IS NULL OR id > $1)';
    const query = `SELECT id, lastupdated, generation FROM ${quoted(this.table)} WHERE ${behind} ORDER BY id LIMIT ${BATCH}`;
    for (let last: string | null = null; ;) {
      const { rows }: pg.QueryResult<HeldRecord> = await this.read<HeldRecord>(query, [last]);
      if (rows.length === 0) return;
      yield rows;
      last = rows.at(-1)!.id;
    }
  }

  isUnfit(error: unknown): boolean {
    if (error instanceof RangeError) return true;
    if (!(error instanceof pg.DatabaseError)) return false;
    const { code = '', where, routine } = error;
    if (code === REFUSED && routine === AT_A_ROW) return true;
    // What a trigger raises has a place in its function, and any code that its author likes.
    return OF_A_ROW.test(code) || (where !== undefined && !OF_THE_SERVER.test(code));
  }

  mend({ upserts, removed, state }: Mended): Promise<void> {
    return this.inTransaction(state, async () => {
      assertWellFormed(upserts);
      removed.forEach(assertWhole);
      const those = `FROM ${quoted(this.table)} WHERE id = ANY($1::text[])`;
      await this.client.query(`DELETE ${those}`, [removed]);
      const { rowCount } = await this.client.query(`SELECT 1 ${those} LIMIT 1`, [removed]);
      assertTaken(rowCount === 0 && (await this.insert(upserts, state, '')) === upserts.length);
    });
  }

  async addColumns(schema: JsonSchema): Promise<void> {
    await this.columns.add(schema);
  }

  close(): Promise<void> {
    return this.client.end();
  }

  private async read<Row extends pg.QueryResultRow>(
    query: string,
    values: unknown[] = [],
  ): Promise<pg.QueryResult<Row>> {
    await this.client.query(BEGIN);
    try {
      return await this.client.query<Row>(query, values);
    } catch (error) {
      throw withRights(error, this.table);
    } finally {
      await this.client.query('ROLLBACK').catch(() => undefined);
    }
  }

  /** A column at a time, so that a page is one statement. The answer is how many rows it wrote. */
  private async insert(upserts: ToldUpsert[], { generation }: CopyState, condition: string): Promise<number> {
    const rows = upserts.map(textsOf);
    const own = COLUMNS.map((_, index) => textArray(rows.map((row) => row[index]!)));
    const typed = columnParts(
      this.columns.list,
      upserts.map(({ data }) => data),
    );
    const [names, aliases] = [
      [...COLUMNS, ...typed.names],
      [...COLUMNS, ...typed.aliases],
    ];
    const texts = [...own, ...typed.texts];
    const places = texts.map((_, index) => `$${index + 1}::text[]`).join(', ');
    const replaced = names.slice(1).map((column) => `${column} = excluded.${column}`);
    const { rowCount } = await this.client.query(
      `INSERT INTO ${quoted(this.table)} AS held (${names.join(', ')}, generation)
       SELECT ${[...TOLD, ...typed.values].join(', ')}, $${texts.length + 1}::integer
       FROM unnest(${places}) AS told(${aliases.join(', ')})
       ON CONFLICT (id) DO UPDATE SET ${replaced.join(', ')}, generation = excluded.generation ${condition}`,
      [...texts, generation],
    );
    return rowCount ?? 0;
  }

  /** What is older than what is held is not written, and marks only. */
  private async mark(upserts: ToldUpsert[], { generation }: CopyState): Promise<void> {
    await this.client.query(
      `UPDATE ${quoted(this.table)} SET generation = $1 WHERE id = ANY($2::text[]) AND generation <> $1`,
      [generation, upserts.map(({ id }) => id)],
    );
  }

  /** That each is held with its stamp or a later one, and marked. */
  private async assertHeld(upserts: ToldUpsert[], { generation }: CopyState): Promise<void> {
    const { rowCount } = await this.client.query(
      `SELECT 1 FROM unnest($1::text[], $2::text[]) AS told(id, lastupdated)
       LEFT JOIN ${quoted(this.table)} AS held ON held.id = told.id
         AND held.lastupdated >= told.lastupdated COLLATE "C" AND held.generation = $3
       WHERE held.id IS NULL LIMIT 1`,
      [upserts.map(({ id }) => id), upserts.map(({ lastupdated }) => lastupdated), generation],
    );
    assertTaken(rowCount === 0);
  }

  private async remove(deletes: ToldDelete[]): Promise<void> {
    const told = [deletes.map(({ id }) => id), deletes.map(({ lastupdated }) => lastupdated)];
    const from = `unnest($1::text[], $2::text[]) AS told(id, lastupdated)`;
    const where = 'held.id = told.id AND told.lastupdated COLLATE "C" >= held.lastupdated';
    const table = `${quoted(this.table)} AS held`;
    const { rowCount } = await this.client.query(`DELETE FROM ${table} USING ${from} WHERE ${where}`, told);
    if (rowCount === deletes.length) return;
    const kept = await this.client.query(`SELECT 1 FROM ${table} JOIN ${from} ON ${where} LIMIT 1`, told);
    assertTaken(kept.rowCount === 0);
  }

  private async inTransaction(state: CopyState, work: () => Promise<void>): Promise<void> {
    const text = JSON.stringify(state);
    await this.client.query(BEGIN);
    try {
      const { before } = this.known;
      const { rowCount } =
        before === undefined
          ? await this.client.query(
              `INSERT INTO ${STATES} (name, state) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`,
              [this.table, text],
            )
          : await this.client.query(`UPDATE ${STATES} SET state = $1 WHERE name = $2 AND state = $3`, [
              text,
              this.table,
              before,
            ]);
      this.known.assertOurs(rowCount === 1);
      await work();
      await this.client.query('COMMIT');
    } catch (error) {
      await this.client.query('ROLLBACK').catch(() => undefined);
      throw withRights(error, this.table);
    }
    this.known.stored(text);
  }
}

/** An error that says which rights the copy needs, where one of them is missing. */
function withRights(error: unknown, table: string): unknown {
  if (!(error instanceof pg.DatabaseError)) return error;
  const { code, routine, where, message } = error;
  if (code !== REFUSED || routine === AT_A_ROW || where !== undefined) return error;
  const needed = `The copy needs SELECT, INSERT, UPDATE and DELETE on ${table} and ${STATES}.`;
  return new Error(`The user of the database lacks a right: ${message}. ${needed}`, { cause: error });
}
