import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { SqliteStore } from '../../../client/src/stores/sqlite.js';
import { byId, type CopiedRecord, type CopyPlace, type CopyPlaces } from './copy-place.js';

const TABLE = 'products';

export const sqliteCopies = (): CopyPlaces => ({ fresh, end: () => Promise.resolve() });

async function fresh(): Promise<CopyPlace> {
  const folder = await mkdtemp(join(tmpdir(), 'tidemark-copy-'));
  const to = join(folder, 'copy.sqlite');
  return {
    to,
    table: TABLE,
    open: () => Promise.resolve(SqliteStore.open(to, TABLE)),
    records: () => Promise.resolve(byId(rowsOf(to))),
    remove: () => rm(folder, { recursive: true }),
  };
}

function rowsOf(path: string): CopiedRecord[] {
  const database = new Database(path);
  const rows = database.prepare(`SELECT * FROM ${TABLE}`).all() as Record<string, string | null>[];
  database.close();
  return rows.map(({ id, lastupdated, type, createDate, createdBy, data, channels }) => ({
    ...({ id, lastupdated, type, createDate, createdBy } as Omit<CopiedRecord, 'data'>),
    data: JSON.parse(data!) as Record<string, unknown>,
    ...(channels !== null && { channels: JSON.parse(channels!) as unknown[] }),
  }));
}
