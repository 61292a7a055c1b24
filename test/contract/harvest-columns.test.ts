/** Typed columns beside `data`, in the copies that have columns. */
import Database from 'libsql';
import type { CopyStore } from '../../client/src/harvest/index.js';
import { type CopyPlace, type CopyPlaces, sqliteCopies } from '../support/copies/index.js';
import { postgresCopies } from '../support/copies/postgres-copies.js';
import { eventually, TestService } from '../support/index.js';
import { again, apply, inPostgres, schemaOf, STAMP, upsert } from './column-copies.js';
import { bike, BIKES } from './harvest-client.js';
import { beginHarvest, ended } from './harvest-program.js';

const SCHEMA = schemaOf({
  ...{
    price: { type: 'number' },
    count: { type: 'integer' },
    on: { type: 'boolean' },
    name: { type: 'string' },
  },
  at: { type: ['null', 'string'], format: 'date-time' },
  ...{ tags: { type: 'array' }, mixed: { type: ['integer', 'string'] } },
  address: { type: 'object', properties: { city: { type: 'string' }, 'zip "code"': { type: 'string' } } },
  ...{ id: { type: 'string' }, "it's; --": { type: 'string' }, 'a.b': { type: 'integer' } },
});
const FULL = {
  ...{ price: 1.5, count: 3, on: true, name: 'Chair', at: STAMP, tags: ['a', 1], mixed: 'x' },
  ...{ address: { city: 'Bern', 'zip "code"': '3000' }, id: 'own', "it's; --": 'q', 'a.b': 7 },
};

interface Form {
  name: string;
  places: () => Promise<CopyPlaces>;
  /** The columns of the records, by id. */
  rows: (place: CopyPlace, columns: string[]) => Promise<Record<string, unknown>[]>;
  execute: (place: CopyPlace, sql: string) => Promise<unknown>;
  yes: unknown;
  stamp: unknown;
  json: (value: unknown) => unknown;
}

const listed = (columns: string[]) => columns.map((name) => `"${name.replaceAll('"', '""')}"`).join(', ');

// The driver throws, and a promise of it is to fail.
// oxlint-disable-next-line require-await
async function inSqlite({ to }: CopyPlace, sql: string): Promise<Record<string, unknown>[]> {
  const database = new Database(to);
  try {
    const statement = database.prepare(sql);
    if (statement.reader) return statement.all() as Record<string, unknown>[];
    statement.run();
    return [];
  } finally {
    database.close();
  }
}

const FORMS: Form[] = [
  {
    ...{ name: 'SQLite', places: () => Promise.resolve(sqliteCopies()), execute: inSqlite },
    rows: (place, columns) => inSqlite(place, `SELECT ${listed(columns)} FROM ${place.table} ORDER BY id`),
    ...{ yes: 1, stamp: STAMP, json: (value) => JSON.stringify(value) },
  },
  {
    ...{ name: 'PostgreSQL', places: postgresCopies, execute: inPostgres },
    rows: (place, columns) => inPostgres(place, `SELECT ${listed(columns)} FROM ${place.table} ORDER BY id`),
    ...{ yes: true, stamp: new Date(STAMP), json: (value) => value },
  },
];

describe.each(FORMS)('columns in $name', ({ places, rows, execute, yes, stamp, json }) => {
  let all: CopyPlaces;
  let place: CopyPlace;
  let store: CopyStore;
  const isSqlite = yes === 1;
  beforeAll(async () => {
    all = await places();
  });
  beforeEach(async () => {
    place = await all.fresh();
    store = await place.open();
  });
  afterEach(async () => {
    await store.close();
    await place.remove();
  });
  afterAll(() => all.end());

  const NAMES = ['price', 'count', 'on', 'name', 'at', 'tags', 'mixed', 'address_city'];

  it('have the values of the records that are held, and of those that come', async () => {
    await apply(store, upsert('a', FULL));
    await store.addColumns!(SCHEMA);
    await apply(store, upsert('b', FULL), upsert('c', {}));
    const full = {
      ...{ price: 1.5, count: isSqlite ? 3 : '3', on: yes, name: 'Chair', at: stamp, tags: json(['a', 1]) },
      ...{ mixed: isSqlite ? '"x"' : 'x', address_city: 'Bern' },
    };
    const none = Object.fromEntries(NAMES.map((name) => [name, null]));
    expect(await rows(place, NAMES)).toEqual([full, full, none]);
    await apply(store, upsert('b', { price: 2 }));
    expect((await rows(place, NAMES))[1]).toEqual({ ...none, price: 2 });
  });

  it('have names of their own, quoted right', async () => {
    await apply(store, upsert('a', FULL));
    await store.addColumns!(SCHEMA);
    const own = ['id_2', "it's; --", 'a.b'];
    expect(await rows(place, own)).toEqual([{ id_2: 'own', "it's; --": 'q', 'a.b': isSqlite ? 7 : '7' }]);
    const quotes = rows(place, ['address_zip "code"']);
    if (isSqlite) await expect(quotes).rejects.toThrow('no such column');
    else expect(await quotes).toEqual([{ 'address_zip "code"': '3000' }]);
  });

  it('are null where a value does not fit, and nothing is lost or stopped by it', async () => {
    await store.addColumns!(SCHEMA);
    const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);
    const odd = [
      { price: '1.5', count: 1.5, on: 'yes', name: 7, at: 'soon', address: 'Bern' },
      { price: null, count: { a: 1 }, on: 1, name: null, at: '0000-01-01', address: ['Bern'] },
      { name: 'x', nul: 'a\u0000b', half: '\ud83d', deep: nested(1500) },
      { name: 'nul \u0000', count: 2 ** 64, price: 1e300 },
    ];
    await apply(store, ...odd.map((data, index) => upsert(`r${index}`, data)));
    const records = await place.records();
    expect([...records.values()].map(({ data }) => data)).toEqual(odd);
    const found = await rows(place, ['price', 'count', 'on', 'at', 'address_city']);
    const none = { price: null, count: null, on: null, at: null, address_city: null };
    expect(found).toEqual([none, none, none, { ...none, price: 1e300 }]);
  });

  it('take a date that is in no calendar', async () => {
    await store.addColumns!(schemaOf({ at: { type: 'string', format: 'date-time' } }));
    await apply(store, upsert('a', { at: '2026-02-30T10:00:00.000Z' }));
    expect([...(await place.records()).keys()]).toEqual(['a']);
  });

  it('are so few that a row has room for the values of all', async () => {
    const names = Array.from({ length: 450 }, (_, index) => `f${100 + index}`);
    await store.addColumns!(schemaOf(Object.fromEntries(names.map((name) => [name, { type: 'string' }]))));
    // PostgreSQL moves only longer values out of a row.
    const data = Object.fromEntries(names.map((name) => [name, `${name}${'x'.repeat(19)}`]));
    await apply(store, upsert('a'.repeat(23), data));
    expect(await rows(place, ['f100', 'f400'])).toEqual([{ f100: data['f100'], f400: data['f400'] }]);
  });

  it('are added for new fields later; those that there are stay, whatever their type becomes', async () => {
    await store.addColumns!(schemaOf({ a: { type: 'integer' } }));
    await apply(store, upsert('a', { a: 1, b: 'x' }));
    const later = schemaOf({ a: { type: 'string' }, b: { type: 'string' }, A: { type: 'string' } });
    for (let time = 0; time < 3; time += 1) await store.addColumns!(later);
    await apply(store, upsert('b', { a: 'text', b: 'y', A: 'z' }));
    expect(await rows(place, ['a', 'b', 'A_2'])).toEqual([
      { a: isSqlite ? 1 : '1', b: 'x', A_2: null },
      { a: null, b: 'y', A_2: 'z' },
    ]);
  });

  it('are written by a harvest that adds none, and made anew where somebody has removed one', async () => {
    await store.addColumns!(schemaOf({ a: { type: 'integer' }, b: { type: 'string' } }));
    await apply(store, upsert('a', { a: 1, b: 'x' }));
    await store.close();
    store = await again(place);
    await apply(store, upsert('a', { a: 2, b: 'y' }));
    expect(await rows(place, ['a', 'b'])).toEqual([{ a: isSqlite ? 2 : '2', b: 'y' }]);
    await store.close();
    await execute(place, `ALTER TABLE ${place.table} DROP COLUMN a`);
    store = await again(place);
    await apply(store, upsert('b', { a: 3 }));
    await store.addColumns!(schemaOf({ a: { type: 'integer' } }));
    expect(await rows(place, ['a', 'b'])).toMatchObject([2, 3].map((a) => ({ a: isSqlite ? a : String(a) })));
  });
});

describe('`tidemark-harvest --columns`', () => {
  it('takes them from the schema of the service, and adds those of new fields', async () => {
    const service = await TestService.start({ SCHEMA_PAUSE_MS: '100' });
    const app = await service.application();
    await app.filter('product', BIKES, { 'data.category': BIKES }, { fields: { except: ['data.n'] } });
    await app.products(3, (n) => bike(`b${n}`));
    await service.watcher.caughtUp();
    const place = await sqliteCopies().fresh();
    const harvest = async () => {
      await service.watcher.caughtUp();
      return ended(beginHarvest(app, ['--to', place.to, '--columns']));
    };
    expect(await harvest()).toMatchObject({ code: 0, errors: '' });
    await app.product({ id: 'later', data: { category: BIKES, gears: 21 } });
    await eventually(async () => (await app.get(`product/${BIKES}/schema`)).text.includes('gears'));
    expect(await harvest()).toMatchObject({ code: 0, errors: '' });
    const rows = await inSqlite(place, 'SELECT category, gears FROM products WHERE gears IS NOT NULL');
    expect(rows).toEqual([{ category: BIKES, gears: 21 }]);
    await expect(inSqlite(place, 'SELECT n FROM products')).rejects.toThrow('no such column');
    await place.remove();
    await service.stop();
  });

  it('is for copies with columns only', async () => {
    const service = await TestService.shared();
    const app = await service.application();
    const { code, errors } = await ended(beginHarvest(app, ['--to', '/tmp/copy.ndjson', '--columns']));
    expect([code, errors]).toEqual([
      2,
      expect.stringContaining('--columns is for a copy in a file that ends in .sqlite'),
    ]);
  });
});
