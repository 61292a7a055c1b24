/** Typed columns in PostgreSQL, where they are stored. */
import pg from 'pg';
import { PostgresStore } from '../../client/src/stores/postgres.js';
import type { CopyPlaces } from '../support/copies/index.js';
import { postgresCopies, userOf } from '../support/copies/postgres-copies.js';
import { apply, inPostgres, schemaOf, upsert } from './column-copies.js';

describe('columns in PostgreSQL', () => {
  let all: CopyPlaces;
  beforeAll(async () => {
    all = await postgresCopies();
  });
  afterAll(() => all.end());

  it('that were not filled to the end are filled by the next harvest', async () => {
    const place = await all.fresh();
    const store = await place.open();
    const many = Array.from({ length: 1200 }, (_, index) => upsert(`r${index}`, { a: index }));
    await apply(store, ...many);
    await store.addColumns!(schemaOf({ a: { type: 'integer' } }));
    const filled = `SELECT count(*)::int AS n FROM ${place.table} WHERE a = (data ->> 'a')::int`;
    expect(await inPostgres(place, filled)).toEqual([{ n: 1200 }]);
    await inPostgres(place, `UPDATE ${place.table} SET a = NULL WHERE id > 'r5'`);
    await inPostgres(place, 'UPDATE tidemark_columns SET filled = false');
    await store.addColumns!(schemaOf({ a: { type: 'integer' } }));
    expect(await inPostgres(place, filled)).toEqual([{ n: 1200 }]);
    await store.close();
  });

  it('are filled for few large records at a time', async () => {
    const place = await all.fresh();
    const store = await place.open();
    const large = 'x'.repeat(2 ** 20);
    for (let at = 0; at < 20; at += 1) await apply(store, upsert(`r${at}`, { a: at, large }));
    for (const sql of [
      'CREATE TABLE together (records int)',
      `CREATE FUNCTION note_together() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN INSERT INTO together SELECT count(*) FROM told; RETURN NULL; END $$`,
      `CREATE TRIGGER note AFTER UPDATE ON ${place.table} REFERENCING NEW TABLE AS told
       FOR EACH STATEMENT EXECUTE FUNCTION note_together()`,
    ])
      await inPostgres(place, sql);
    await store.addColumns!(schemaOf({ a: { type: 'integer' } }));
    const filled = 'SELECT sum(records)::int AS all, max(records) <= 9 AS few FROM together';
    expect(await inPostgres(place, filled)).toEqual([{ all: 20, few: true }]);
    await store.close();
  });

  it('of another user do not keep a user out who has no right to them', async () => {
    const place = await all.fresh();
    await (await place.open()).close();
    const owner = new pg.Client({ connectionString: place.to });
    await owner.connect();
    await owner.query('CREATE TABLE IF NOT EXISTS tidemark_columns (name text)');
    const uri = await userOf(owner, place, 'SELECT, INSERT, UPDATE, DELETE');
    const store = await PostgresStore.open(uri, place.table);
    await apply(store, upsert('a', { a: 1 }));
    await expect(store.addColumns(schemaOf({ a: { type: 'integer' } }))).rejects.toThrow('permission denied');
    await apply(store, upsert('b', { a: 1 }));
    expect((await place.records()).size).toBe(2);
    await store.close();
    await owner.end();
  });
});

describe('columns in PostgreSQL that another user has added', () => {
  it('are written, or the copy says which right is missing: no column keeps an old value', async () => {
    const all = await postgresCopies();
    const place = await all.fresh();
    const ofOwner = await place.open();
    await apply(ofOwner, upsert('a', { a: 1 }));
    await ofOwner.addColumns!(schemaOf({ a: { type: 'integer' } }));
    await ofOwner.close();
    const owner = new pg.Client({ connectionString: place.to });
    await owner.connect();
    const uri = await userOf(owner, place, 'SELECT, INSERT, UPDATE, DELETE');
    await expect(PostgresStore.open(uri, place.table)).rejects.toThrow('needs SELECT on tidemark_columns');
    await owner.query(`GRANT SELECT ON tidemark_columns TO user_${place.table}`);
    const store = await PostgresStore.open(uri, place.table);
    await store.state();
    await apply(store, upsert('a', { a: 2 }));
    expect(await inPostgres(place, `SELECT a FROM ${place.table}`)).toEqual([{ a: '2' }]);
    await store.close();
    await owner.end();
    await all.end();
  });
});
