import type pg from 'pg';
import { parseExactly } from '../parse-exactly.js';
import type { JsonSchema } from '../schema.js';
import { columnText } from './column-values.js';
import {
  type Column,
  COLUMNS_OF_COPIES,
  type ColumnType,
  fieldsIn,
  newColumns,
  quotedColumn,
} from './columns.js';
import { quoted } from './rows.js';
import { textArray } from './text-array.js';

/** Records whose new columns are filled at once, and about how many bytes of `data`. */
const FILLED_TOGETHER = 500;
const FILLED_BYTES = 8 * 1024 * 1024;
/** Columns of a copy without those of fields. */
const OWN_COLUMNS = 8;

const TYPES: Record<ColumnType, string> = {
  ...{ integer: 'bigint', number: 'double precision', boolean: 'boolean', timestamp: 'timestamptz' },
  ...{ text: 'text', json: 'json' },
};

/** Columns with their values, as parts of a statement. Their texts are parameters from a number on. */
export interface ColumnParts {
  /** As the table names them. */
  names: string[];
  /** The same in an `unnest` of texts, and as values of their types. */
  aliases: string[];
  values: string[];
  /** The texts of each column, for as many rows as there are. */
  texts: Buffer[];
}

export function columnParts(columns: Column[], datas: unknown[]): ColumnParts {
  const aliases = columns.map((_, index) => `column_${index}`);
  return {
    names: columns.map(({ name }) => quotedColumn(name)),
    aliases,
    values: columns.map(({ type }, index) => `${aliases[index]}::${TYPES[type]}`),
    texts: columns.map((column) => textArray(datas.map((data) => columnText(data, column)))),
  };
}

/**
 * The typed columns of a copy in PostgreSQL. They are written with each record; a new one is filled for the records that are held.
 * That goes on where it ended, because a column counts as filled only at the end.
 */
export class PostgresColumns {
  /** Those that are written. */
  list: Column[] = [];

  constructor(
    private readonly client: pg.Client,
    private readonly table: string,
    private readonly begin: string,
  ) {}

  /**
   * Reads which columns there are: they are written by a harvest that adds none, too. Throws where it cannot know which of the
   * table's columns these are, because they would keep old values.
   */
  async load(): Promise<void> {
    this.list = await this.inTransaction(async () => {
      const { rows } = await this.client.query<{ readable: boolean | null }>(
        `SELECT has_table_privilege(to_regclass($1), 'SELECT') AS readable`,
        [COLUMNS_OF_COPIES],
      );
      const { readable } = rows[0]!;
      if (readable === null) return [];
      const existing = await this.existing();
      if (readable) return this.present(existing);
      if (existing.length === OWN_COLUMNS) return [];
      throw new Error(
        `The user of the database lacks a right: the copy needs SELECT on ${COLUMNS_OF_COPIES}, because ${this.table} has more columns than those of every copy.`,
      );
    });
  }

  async add(schema: JsonSchema): Promise<void> {
    const unfilled = await this.inTransaction(() => this.addMissing(schema));
    if (unfilled.length === 0) return;
    for (let last: string | null = null; ;) {
      const behind: string | null = last;
      last = await this.inTransaction(() => this.fill(unfilled, behind));
      if (last === null) break;
    }
    await this.inTransaction(() =>
      this.client.query(`UPDATE ${COLUMNS_OF_COPIES} SET filled = true WHERE name = $1`, [this.table]),
    );
  }

  /** Returns the columns that are not filled. */
  private async addMissing(schema: JsonSchema): Promise<Column[]> {
    await this.client.query(
      `CREATE TABLE IF NOT EXISTS ${COLUMNS_OF_COPIES} (name text, path text, "column" text NOT NULL, type text NOT NULL, filled boolean NOT NULL, PRIMARY KEY (name, path))`,
    );
    const existing = await this.existing();
    const stored = await this.present(existing);
    const added = newColumns(fieldsIn(schema), stored, existing);
    for (const { path, name, type } of added) {
      await this.client.query(
        `ALTER TABLE ${quoted(this.table)} ADD COLUMN ${quotedColumn(name)} ${TYPES[type]}`,
      );
      await this.client.query(
        `INSERT INTO ${COLUMNS_OF_COPIES} (name, path, "column", type, filled) VALUES ($1, $2, $3, $4, false)
         ON CONFLICT (name, path) DO UPDATE SET "column" = excluded."column", type = excluded.type, filled = false`,
        [this.table, JSON.stringify(path), name, type],
      );
    }
    this.list = [...stored, ...added];
    return [...stored.filter(({ filled }) => !filled), ...added];
  }

  /** Fills the columns of the next records, and returns the last `id`; null if there are none. */
  private async fill(columns: Column[], behind: string | null): Promise<string | null> {
    const table = quoted(this.table);
    const { rows } = await this.client.query<{ id: string; data: string }>(
      `SELECT id, data FROM (
         SELECT id, data, sum(octet_length(data)) OVER (ORDER BY id) - octet_length(data) AS before FROM (
           SELECT id, data::text AS data FROM ${table} WHERE $1::text IS NULL OR id > $1
           ORDER BY id LIMIT ${FILLED_TOGETHER}
         ) AS following
       ) AS measured WHERE before < ${FILLED_BYTES} ORDER BY id`,
      [behind],
    );
    if (rows.length === 0) return null;
    const datas = rows.map(({ data }) => parseExactly(data));
    const { names, aliases, values, texts } = columnParts(columns, datas);
    const places = [...aliases, 'told_id'].map((_, index) => `$${index + 1}::text[]`);
    await this.client.query(
      `UPDATE ${table} AS held SET ${names.map((name, index) => `${name} = ${values[index]}`).join(', ')}
       FROM unnest(${places.join(', ')}) AS told(${[...aliases, 'told_id'].join(', ')}) WHERE held.id = told_id`,
      [...texts, textArray(rows.map(({ id }) => id))],
    );
    return rows.at(-1)!.id;
  }

  private async existing(): Promise<string[]> {
    const { rows } = await this.client.query<{ name: string }>(
      `SELECT attname AS name FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped`,
      [quoted(this.table)],
    );
    return rows.map(({ name }) => name);
  }

  /** The columns that are noted and still exist. */
  private async present(existing: string[]): Promise<(Column & { filled: boolean })[]> {
    const { rows } = await this.client.query<{
      path: string;
      name: string;
      type: ColumnType;
      filled: boolean;
    }>(`SELECT path, "column" AS name, type, filled FROM ${COLUMNS_OF_COPIES} WHERE name = $1`, [this.table]);
    return rows
      .filter(({ name }) => existing.includes(name))
      .map(({ path, ...row }) => ({ ...row, path: JSON.parse(path) as string[] }));
  }

  private async inTransaction<T>(work: () => Promise<T>): Promise<T> {
    await this.client.query(this.begin);
    const before = this.list;
    try {
      const done = await work();
      await this.client.query('COMMIT');
      return done;
    } catch (error) {
      this.list = before;
      await this.client.query('ROLLBACK').catch(() => undefined);
      throw error;
    }
  }
}
