import { isWellFormed } from '../harvest/unfit.js';
import type { JsonSchema } from '../schema.js';

/** The types of columns. `json` takes every value, as JSON text. */
export type ColumnType = 'integer' | 'number' | 'boolean' | 'timestamp' | 'text' | 'json';

/** A field of `data` that has a column. */
export interface ColumnField {
  /** The names from `data` to the field. */
  path: string[];
  type: ColumnType;
}

/** A column of a copy. */
export interface Column extends ColumnField {
  name: string;
}

/** The table of the columns of all copies beside it. */
export const COLUMNS_OF_COPIES = 'tidemark_columns';

/** A row in PostgreSQL has 8160 bytes. Values of up to 24 bytes stay in it, and of longer ones a reference. */
const MOST_COLUMNS = 320;

/** Names of columns that copies or databases have, in lower case. */
const TAKEN = [
  ...['id', 'lastupdated', 'type', 'createdate', 'createdby', 'data', 'channels', 'generation'],
  ...['rowid', 'oid', '_rowid_', 'ctid', 'xmin', 'xmax', 'cmin', 'cmax', 'tableoid'],
];
/** Bytes. PostgreSQL cuts longer names. */
const LONGEST_NAME = 63;
/** Room for a number that makes a name unique. */
const NUMBER_BYTES = 6;

/**
 * The fields of a schema that get a column: those with a value. An object with fields has a column for each of them. A list, a
 * map, and a field with several types have a `json` column.
 */
export function fieldsIn(schema: JsonSchema): ColumnField[] {
  const data = schema.properties?.['data'];
  return data === undefined ? [] : [...fieldsOf(data, [])];
}

function* fieldsOf({ properties = {} }: JsonSchema, around: string[]): Generator<ColumnField> {
  for (const [name, property] of Object.entries(properties)) {
    const path = [...around, name];
    const types = [property.type ?? []].flat().filter((type) => type !== 'null');
    const type = columnType(types, property);
    if (!isWellFormed(name) || types.length === 0) continue;
    if (type === 'fields') yield* fieldsOf(property, path);
    else yield { path, type };
  }
}

function columnType([type, ...others]: string[], { format, properties }: JsonSchema): ColumnType | 'fields' {
  if (others.length > 0) return 'json';
  if (type === 'string') return format === 'date-time' ? 'timestamp' : 'text';
  if (type === 'object' && properties !== undefined) return 'fields';
  return type === 'integer' || type === 'number' || type === 'boolean' ? type : 'json';
}

/**
 * The columns to add for fields that have none, each with a name of its own: the names of its path with `_` between them.
 * `existing` are all columns of the table, including those that another program has added.
 */
export function newColumns(fields: ColumnField[], known: Column[], existing: string[]): Column[] {
  const paths = new Set(known.map(({ path }) => JSON.stringify(path)));
  const taken = new Set([...TAKEN, ...[...existing, ...known.map(({ name }) => name)].map(lower)]);
  const missing = fields.filter(({ path }) => !paths.has(JSON.stringify(path)));
  return missing.slice(0, Math.max(0, MOST_COLUMNS - known.length)).map((field) => {
    const name = uniqueName(field.path.join('_'), taken);
    taken.add(lower(name));
    return { ...field, name };
  });
}

const lower = (name: string) => name.toLowerCase();

function uniqueName(path: string, taken: ReadonlySet<string>): string {
  const plain = path.replace(/\p{Cc}/gu, '_');
  const whole = cutTo(LONGEST_NAME, plain);
  if (!taken.has(lower(whole))) return whole;
  const start = cutTo(LONGEST_NAME - NUMBER_BYTES, plain);
  for (let number = 2; ; number += 1) {
    const name = `${start}_${number}`;
    if (!taken.has(lower(name))) return name;
  }
}

function cutTo(bytes: number, text: string): string {
  const letters = [...text];
  while (Buffer.byteLength(letters.join('')) > bytes) letters.pop();
  return letters.join('');
}

/** The name of a column as SQL has it. */
export function quotedColumn(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
