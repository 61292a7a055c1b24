import type Database from 'libsql';
import type { JsonSchema } from '../schema.js';
import {
  type Column,
  COLUMNS_OF_COPIES,
  type ColumnType,
  fieldsIn,
  newColumns,
  quotedColumn,
} from './columns.js';
import { quoted } from './rows.js';

/** SQLite has no way to write these in a path. */
function isWritable(name: string): boolean {
  return JSON.stringify(name) === `"${name}"`;
}

/** Adds a computed column for each field of a schema that has none. What does not fit is null there. */
export function addComputedColumns(database: Database.Database, table: string, schema: JsonSchema): void {
  const fields = fieldsIn(schema).filter(({ path }) => path.every(isWritable));
  database.exec(
    `CREATE TABLE IF NOT EXISTS ${COLUMNS_OF_COPIES} (name TEXT NOT NULL, path TEXT NOT NULL, column TEXT NOT NULL, type TEXT NOT NULL, PRIMARY KEY (name, path))`,
  );
  database.exec('BEGIN IMMEDIATE');
  try {
    const existing = columnsIn(database, table);
    const known = knownColumns(database, table).filter(({ name }) => existing.includes(name));
    const note = database.prepare(`INSERT OR REPLACE INTO ${COLUMNS_OF_COPIES} VALUES (?, ?, ?, ?)`);
    for (const column of newColumns(fields, known, existing)) {
      const [name, kept] = [quotedColumn(column.name), valueOf(column)];
      database.exec(
        `ALTER TABLE ${quoted(table)} ADD COLUMN ${name} ${TYPES[column.type]} GENERATED ALWAYS AS (${kept}) VIRTUAL`,
      );
      note.run(table, JSON.stringify(column.path), column.name, column.type);
    }
    database.exec('COMMIT');
  } catch (error) {
    if (database.inTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

const TYPES: Record<ColumnType, string> = {
  ...{ integer: 'INTEGER', number: 'REAL', boolean: 'BOOLEAN', timestamp: 'TEXT', text: 'TEXT' },
  json: 'TEXT',
};

/** An expression for the value of a column. `data` that is nested too deep for SQLite is not valid JSON to it. */
function valueOf({ path, type }: Column): string {
  const place = textLiteral(`$${path.map((name) => `."${name}"`).join('')}`);
  const [found, value] = [`json_type(data, ${place})`, `json_extract(data, ${place})`];
  const fits: Record<ColumnType, string> = {
    integer: `${found} = 'integer' AND typeof(${value}) = 'integer'`,
    number: `${found} IN ('integer', 'real')`,
    boolean: `${found} IN ('true', 'false')`,
    timestamp: `${found} = 'text' AND ${value} GLOB '????-??-??T??:??:??.???Z'`,
    text: `${found} = 'text'`,
    json: `${found} <> 'null'`,
  };
  const kept = type === 'json' ? `data -> ${place}` : value;
  return `CASE WHEN json_valid(data) THEN CASE WHEN ${fits[type]} THEN ${kept} END END`;
}

function textLiteral(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** All columns of a table, the computed ones too. */
function columnsIn(database: Database.Database, table: string): string[] {
  const found = database.prepare(`PRAGMA table_xinfo(${quoted(table)})`).all() as { name: string }[];
  return found.map(({ name }) => name);
}

function knownColumns(database: Database.Database, table: string): Column[] {
  const rows = database
    .prepare(`SELECT path, column AS name, type FROM ${COLUMNS_OF_COPIES} WHERE name = ?`)
    .all(table) as { path: string; name: string; type: ColumnType }[];
  return rows.map(({ path, ...row }) => ({ ...row, path: JSON.parse(path) as string[] }));
}
