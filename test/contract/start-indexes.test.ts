import type { NestExpressApplication } from '@nestjs/platform-express';
import { mongo } from 'mongoose';
import { createApp } from '../../src/app.js';
import { readSettings } from '../../src/platform/config/index.js';
import { Preparation } from '../../src/platform/database/index.js';
import { freshDatabase, TestService } from '../support/index.js';
import { commandsDuring, type Profiled } from './profiler.js';

const TENANT = { organizationid: 'acme', appid: 'shop' };
const UNIQUE = 'organizationid_1_appid_1_id_1';

const made = (commands: Profiled[]) => commands.filter(({ command }) => 'createIndexes' in command);

describe('Indexes are made at start, idempotently', () => {
  it('on an empty database with one command for each collection', async () => {
    const { uri, client, db } = await freshDatabase();
    const commands = made(await commandsDuring(db, () => outcomeOn(uri)));
    const collections = commands.map(({ command }) => command['createIndexes'] as string);
    expect(new Set(collections).size).toBe(collections.length);
    expect(collections).toEqual(expect.arrayContaining(['members', 'products', 'tidemark.ledger']));
    for (const { command } of commands) {
      const standing = await db.collection(command['createIndexes'] as string).indexes();
      expect(standing.length - 1).toBe((command['indexes'] as unknown[]).length);
    }
    await db.dropDatabase();
    await client.close();
  });

  it('a second start makes none, and keeps those of others', async () => {
    const service = await TestService.start();
    const products = service.db.collection('products');
    await products.createIndex({ 'data.color': 1 });
    const indexes = await products.indexes();
    await service.leave();
    expect(made(await commandsDuring(service.db, () => outcomeOn(service.uri)))).toEqual([]);
    expect(await products.indexes()).toEqual(indexes);
    await service.stop();
  });

  it('one that is hidden is shown again, and not made anew', async () => {
    const service = await TestService.start();
    await service.leave();
    const index = { name: 'organizationid_1_appid_1__id_1', hidden: true };
    await service.db.command({ collMod: 'products', index });
    expect(made(await commandsDuring(service.db, () => outcomeOn(service.uri)))).toEqual([]);
    const standing = await service.db.collection('products').indexes();
    expect(standing.filter(({ hidden }) => hidden === true)).toEqual([]);
    await service.stop();
  });
});

/** What a start on a database ends with. */
async function outcomeOn(uri: string): Promise<string> {
  const app: NestExpressApplication = await createApp(
    readSettings({ MONGODB_URI: uri, LOG_LEVEL: 'silent' }),
    uri,
  );
  await app.init();
  const outcome = await app.get(Preparation).done.then(
    () => 'ready',
    (error: Error) => `${error.name}: ${error.message}`,
  );
  await app.close();
  return outcome;
}

type OnDatabase = (db: mongo.Db) => Promise<unknown>;

/** The same on a database that `before` has prepared; `after` may look at what it leaves. */
async function startOn(before: OnDatabase, after?: OnDatabase): Promise<string> {
  const { uri, client, db } = await freshDatabase();
  await before(db);
  const outcome = await outcomeOn(uri);
  await after?.(db);
  await db.dropDatabase();
  await client.close();
  return outcome;
}

it.each(['members', 'products', 'credentials'])(
  'a collection with a collation ends the start, since it takes different texts for the same: %s',
  async (collection) => {
    const message = await startOn((db) =>
      db.createCollection(collection, { collation: { locale: 'en', strength: 2 } }),
    );
    expect(message).toMatch(
      new RegExp(`^FatalError: The collection ${collection} has a collation, .* start again\\.$`),
    );
  },
);

describe('where existing data breaks it, the start ends with one message that lists the ids', () => {
  const twice = (document: mongo.Document) => [{ ...document }, { ...document }];

  it.each(['members', 'products'])('%s', async (collection) => {
    const message = await startOn((db) =>
      db
        .collection(collection)
        .insertMany([
          ...twice({ ...TENANT, id: 'double-1' }),
          ...twice({ ...TENANT, id: 'double-2' }),
          { ...TENANT, id: 'double-2' },
          { ...TENANT, id: 'single' },
          { ...TENANT, appid: 'erp', id: 'double-1' },
          ...twice({ ...TENANT, id: 5 }),
          ...twice(TENANT),
        ]),
    );
    expect(message).toMatch(/^FatalError: [^\n]+$/);
    expect(message).toContain(collection);
    expect(message).toContain('acme/shop/double-1 (2 times)');
    expect(message).toContain('acme/shop/double-2 (3 times)');
    expect(message).not.toMatch(/single|erp/);
  });

  it.each<[string, mongo.Document, string]>([
    ['applications', TENANT, 'acme/shop'],
    ['services', { ...TENANT, kind: 'product', name: 'web' }, 'acme/shop/product/web'],
    ['credentials', { username: 'ann', passwordhash: 'hidden' }, 'ann'],
  ])('%s', async (collection, document, named) => {
    const message = await startOn((db) => db.collection(collection).insertMany(twice(document)));
    expect(message).toMatch(/^FatalError: [^\n]+$/);
    expect(message).toContain(`${named} (2 times)`);
    expect(message).not.toContain('hidden');
  });

  it('an `id` in a list counts as any other, and the `_id`s tell where it is', async () => {
    const message = await startOn((db) =>
      db.collection<{ _id: string }>('products').insertMany([
        { _id: 'listed', ...TENANT, id: ['a', 'b', 'b', 5] },
        { _id: 'plain', ...TENANT, id: 'a' },
        { _id: 'numbered', ...TENANT, id: ['c', 5] },
        { _id: 'other', ...TENANT, id: ['d'] },
      ] as mongo.Document[] as { _id: string }[]),
    );
    expect(message).toMatch(/^FatalError: [^\n]+$/);
    expect(message).toMatch(/acme\/shop\/a \(2 times\), _id "(listed", "plain|plain", "listed)"/);
    expect(message).toMatch(/acme\/shop\/5 \(2 times\), _id "(listed", "numbered|numbered", "listed)"/);
    expect(message).not.toMatch(/shop\/[bd]|other/);
  });

  it('all other indexes are made', async () => {
    const message = await startOn(
      (db) => db.collection('products').insertMany(twice({ ...TENANT, id: 'double' })),
      async (db) => {
        const [products, members] = await Promise.all(
          ['products', 'members'].map((name) => db.collection(name).indexInformation()),
        );
        expect(Object.keys(products!)).toEqual(
          expect.arrayContaining([
            'organizationid_1_appid_1__id_1',
            'organizationid_1_appid_1_lastupdated_1__id_1',
          ]),
        );
        expect(products).not.toHaveProperty(UNIQUE);
        expect(members).toHaveProperty(UNIQUE);
      },
    );
    expect(message).toContain('acme/shop/double (2 times)');
  });

  it('what is missing counts as a value too', async () => {
    const message = await startOn((db) =>
      db.collection<{ _id: string }>('credentials').insertMany([{ _id: 'one' }, { _id: 'two' }]),
    );
    expect(message).toMatch(/null \(2 times\), _id "(one", "two|two", "one)"/);
  });

  it('lists in two fields of an index: the `_id`s', async () => {
    const lists = (_id: string) => ({ _id, organizationid: ['acme'], appid: ['shop', 'erp'] });
    const message = await startOn((db) =>
      db
        .collection<{ _id: string }>('products')
        .insertMany([
          { _id: 'plain', ...TENANT },
          { _id: 'single', ...TENANT, appid: ['shop'] } as { _id: string },
          ...Array.from({ length: 25 }, (_, index) => lists(`both-${index}`)),
        ]),
    );
    expect(message).toMatch(/^FatalError: The collection products [^\n]+ organizationid, appid, [^\n]+$/);
    expect(message.match(/"both-\d+"/g)).toHaveLength(20);
    expect(message).not.toMatch(/plain|single/);
  });

  it('the same `id` in several applications or kinds is none', async () => {
    const message = await startOn(async (db) => {
      await db.collection('products').insertMany([
        { ...TENANT, id: 'x' },
        { ...TENANT, appid: 'erp', id: 'x' },
      ]);
      await db.collection('members').insertOne({ ...TENANT, id: 'x' });
    });
    expect(message).toBe('ready');
  });
});

describe('an index of another program', () => {
  const ID = { organizationid: 1, appid: 1, id: 1 } as const;
  const BY_ID = { organizationid: 1, appid: 1, _id: 1 } as const;

  it('that is in the way ends the start with one message that names it', async () => {
    const message = await startOn((db) => db.collection('products').createIndex(ID));
    expect(message).toBe(
      `FatalError: The index ${UNIQUE} of products is not the one over organizationid, appid, id that the service needs. ` +
        'Drop it, then start again.',
    );
  });

  it('that has the same keys and lets several records have one `id` is left alone, beside the unique one', async () => {
    const partialFilterExpression = { id: { $type: 'string' } };
    const message = await startOn((db) =>
      db.collection('members').createIndex(ID, { name: 'theirs', partialFilterExpression }),
    );
    expect(message).toBe('ready');
  });

  it('that is the same under another name serves as well', async () => {
    const service = await TestService.start({}, (db) =>
      db.collection('products').createIndex(BY_ID, { name: 'theirs' }),
    );
    const app = await service.application();
    const product = await app.product();
    expect((await app.feed('product').page()).ids).toEqual([product['id']]);
    await service.stop();
  });
});
