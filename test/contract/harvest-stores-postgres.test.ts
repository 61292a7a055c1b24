import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import pg from 'pg';
import type { AppliedPage } from '../../client/src/harvest/index.js';
import { PostgresStore } from '../../client/src/stores/postgres.js';
import { eventually } from '../support/index.js';
import type { CopyPlace, CopyPlaces } from '../support/copies/index.js';
import { postgresCopies, userOf } from '../support/copies/postgres-copies.js';
import { HALVES, storeContract } from './harvest-store-contract.js';

/** PostgreSQL compresses what repeats itself before it looks how long a key is. */
const LONG_ID = Array.from({ length: 400 }, (_, n) => (n * 2654435761).toString(36)).join('-');

const REFUSED = { createdBy: 'refused' };

const STAMP = '2026-01-01T00:00:00.000Z';
/** A page with one record. */
const pageOf = (id: string): AppliedPage => ({
  changes: [
    {
      ...{ op: 'upsert', id, lastupdated: STAMP, type: 'product', createDate: STAMP, createdBy: 'erp' },
      data: {},
    },
  ],
  state: { feed: 'acme/shop/product', phase: 'following', generation: 1, isWithin: true, cursor: id },
});

/** What the user of the database adds to the table. */
const inPostgres =
  (sql: (table: string) => string) =>
  async ({ to, table }: CopyPlace): Promise<void> => {
    const client = new pg.Client({ connectionString: to });
    await client.connect();
    try {
      await client.query(sql(table));
    } finally {
      await client.end();
    }
  };

const trigger = (event: string, when: string, does: string) =>
  inPostgres(
    (table) => `
      CREATE FUNCTION own_${table}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${does}; END $$;
      CREATE TRIGGER own BEFORE ${event} ON ${table} FOR EACH ROW WHEN (${when}) EXECUTE FUNCTION own_${table}()`,
  );

storeContract(
  'PostgreSQL',
  postgresCopies,
  [
    ['an `id` that is longer than an index takes', LONG_ID, {}],
    ['an `id` with U+0000', 'nul\u0000', {}],
    ['a text with U+0000', 'type', { type: 'a\u0000b' }],
    ...HALVES,
    [
      'what is not unique',
      'own',
      {},
      inPostgres((table) => `CREATE UNIQUE INDEX ON ${table} ((1)) WHERE id IN ('a', 'own')`),
    ],
    [
      'what a foreign key refuses when the page ends',
      'own',
      REFUSED,
      inPostgres(
        (table) =>
          `CREATE TABLE own_${table} (name text PRIMARY KEY); INSERT INTO own_${table} VALUES ('erp'); ALTER TABLE ${table} ADD FOREIGN KEY ("createdBy") REFERENCES own_${table} DEFERRABLE INITIALLY DEFERRED`,
      ),
    ],
    [
      'what a trigger refuses',
      'own',
      REFUSED,
      trigger('INSERT', 'new."createdBy" = \'refused\'', "RAISE EXCEPTION 'own'"),
    ],
    [
      'what a trigger refuses with a code of its own',
      'own',
      REFUSED,
      trigger('INSERT', 'new."createdBy" = \'refused\'', "RAISE EXCEPTION 'own' USING ERRCODE = 'OWN42'"),
    ],
    [
      'what a trigger drops without an error',
      'own',
      REFUSED,
      trigger('INSERT', 'new."createdBy" = \'refused\'', 'RETURN NULL'),
    ],
  ],
  [['what a trigger keeps without an error', trigger('DELETE', 'old."createdBy" = \'kept\'', 'RETURN NULL')]],
);

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

  it('whose rows a policy refuses names the policy, and is about the record', async () => {
    const place = await places.fresh();
    await (await place.open()).close();
    await client.query(`ALTER TABLE ${place.table} ENABLE ROW LEVEL SECURITY`);
    await client.query(`CREATE POLICY own ON ${place.table} USING (true) WITH CHECK (id <> 'own')`);
    const to = await userOf(client, place, 'SELECT, INSERT, UPDATE, DELETE');
    const store = await PostgresStore.open(to, place.table);
    try {
      const refused = await store.apply(pageOf('own')).catch((error: unknown) => error);
      expect((refused as Error).message).toContain('row-level security');
      expect(store.isUnfit(refused)).toBe(true);
      await store.apply(pageOf('other'));
    } finally {
      await store.close();
    }
  });

  it('in a table that its user may not write ends with that, and is about no record', async () => {
    const place = await places.fresh();
    await (await place.open()).close();
    const store = await PostgresStore.open(await userOf(client, place, 'SELECT'), place.table);
    try {
      const refused = await store.apply(pageOf('own')).catch((error: unknown) => error);
      expect((refused as Error).message).toBe(
        `The user of the database lacks a right: permission denied for table ${place.table}. The copy needs SELECT, INSERT, UPDATE and DELETE on ${place.table} and tidemark_copies.`,
      );
      expect(store.isUnfit(refused)).toBe(false);
    } finally {
      await store.close();
    }
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

  it('is opened without parameters that a pooler refuses, such as `lock_timeout` and `options`', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const opened = PostgresStore.open(`postgres://user@127.0.0.1:${port}/copies`, 'copy');
    const refused = expect(opened).rejects.toThrow('terminated');
    const [socket] = (await once(server, 'connection')) as [Socket];
    const [message] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    await refused;
    server.close();
    expect(parametersOf(message)).toEqual({ user: 'user', database: 'copies', client_encoding: 'UTF8' });
  });
});

/** Of a start-up message: its length, the version of the protocol, and names and values that end with NUL each. */
function parametersOf(message: Buffer): Record<string, string> {
  const texts = message.subarray(8).toString().split('\0').slice(0, -2);
  const names = texts.filter((_, index) => index % 2 === 0);
  return Object.fromEntries(names.map((name, index) => [name, texts[2 * index + 1]!]));
}
