import pg from 'pg';
import type { CopyStore, ToldChange } from '../../client/src/harvest/index.js';
import type { JsonSchema } from '../../client/src/index.js';
import type { CopyPlace } from '../support/copies/index.js';

export const STAMP = '2026-01-01T00:00:00.000Z';
export const upsert = (id: string, data: Record<string, unknown>): ToldChange => ({
  ...{ op: 'upsert', id, lastupdated: STAMP, type: 'product', createDate: STAMP, createdBy: 'erp' },
  data,
});

/** Opens a copy as the next harvest does. */
export async function again(place: CopyPlace): Promise<CopyStore> {
  const store = await place.open();
  await store.state();
  return store;
}

let count = 0;
export const apply = (store: CopyStore, ...changes: ToldChange[]) =>
  store.apply({
    changes,
    state: { feed: 'f', phase: 'following', generation: 1, isWithin: true, cursor: String((count += 1)) },
  });

export const schemaOf = (properties: Record<string, JsonSchema>): JsonSchema => ({
  properties: { data: { type: 'object', properties } },
});

export async function inPostgres({ to }: CopyPlace, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: to });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}
