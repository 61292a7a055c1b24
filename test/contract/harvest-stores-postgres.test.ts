import pg from 'pg';
import { eventually } from '../support/index.js';
import type { CopyPlaces } from '../support/copies/index.js';
import { postgresCopies } from '../support/copies/postgres-copies.js';
import { storeContract } from './harvest-store-contract.js';

/** PostgreSQL compresses what repeats itself before it looks how long a key is. */
const LONG_ID = Array.from({ length: 400 }, (_, n) => (n * 2654435761).toString(36)).join('-');

storeContract('PostgreSQL', postgresCopies, [
  ['an `id` that is longer than an index takes', LONG_ID, {}],
  ['an `id` with U+0000', 'nul\u0000', {}],
  ['a text with U+0000', 'type', { type: 'a\u0000b' }],
]);

describe('a copy in PostgreSQL', () => {
  let places: CopyPlaces;
  let client: pg.Client;
  beforeAll(async () => {
    places = await postgresCopies();
    client = new pg.Client({ connectionString: (await places.fresh()).to });
    await client.connect();
  });
  afterAll(async () => {
    await client.end();
    await places.end();
  });

  it('whose connection is ended between two harvests fails when it is asked, and no sooner', async () => {
    const others = 'FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = $1';
    const store = await (await places.fresh()).open();
    await client.query(`SELECT pg_terminate_backend(pid) ${others}`, ['client backend']);
    await eventually(
      async () => (await client.query(`SELECT 1 ${others}`, ['client backend'])).rowCount === 0,
    );
    await expect(eventually(async () => (await store.state()) !== undefined)).rejects.toThrow(
      /connection|terminat/i,
    );
    await store.close();
  });

  it('that somebody holds locked is waited for, and not for ever', async () => {
    const place = await places.fresh();
    const store = await place.open();
    await client.query(`BEGIN; LOCK TABLE ${place.table}`);
    await expect(store.newestGeneration()).rejects.toThrow('lock timeout');
    await client.query('ROLLBACK');
    await expect(store.newestGeneration()).resolves.toBeUndefined();
    await store.close();
  });
});
