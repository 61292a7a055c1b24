import type { mongo } from 'mongoose';
import { IndexKeeper } from '../../src/platform/database/index.js';
import { eventually, type TestApplication, TestService } from '../support/index.js';
import { AdminConsole } from './admin-console.js';

const INDEX = 'organizationid_1_appid_1_data.color_1';
const KEY = { organizationid: 1, appid: 1, 'data.color': 1 };

let service: TestService;
let admin: AdminConsole;
let app: TestApplication;

beforeAll(async () => {
  service = await TestService.start();
  admin = new AdminConsole(service.uri);
});
beforeEach(async () => {
  app = await service.application();
  await app.products(50, (index) => ({ data: { color: `c${index}`, n: index } }));
});
afterEach(() =>
  products()
    .dropIndex(INDEX)
    .catch(() => undefined),
);
afterAll(() => service.stop());

const products = () => service.db.collection('products');
const names = async () => (await products().indexes()).map(({ name }) => name);
const words = (command: string, filter: object, ...more: string[]) => [
  ...['service', command, '--org', app.organizationid, '--app', app.appid, '--kind', 'product'],
  ...['--filter', JSON.stringify(filter), ...more],
];
const color = { 'data.color': 'c7', 'data.n': { $gte: 5 } };

describe('`service index` makes the index that serves a filter', () => {
  it('which the preview names, and which then serves', async () => {
    const before = await admin.run(words('preview', color));
    expect(before.output).toContain(
      `No index serves it: every record is read. Make one: npm run -s admin -- service index --org ${app.organizationid} ` +
        `--app ${app.appid} --kind product --filter '{"data.color":"c7","data.n":{"$gte":5}}'`,
    );
    expect(await admin.run(words('index', color))).toMatchObject({
      code: 0,
      output: `The index ${INDEX} of products exists, and serves the filter.`,
    });
    expect(await names()).toContain(INDEX);
    expect((await admin.run(words('preview', color))).output).toContain(`The index ${INDEX} serves it.`);
    const deed = await service.db.collection('tidemark.audittrail').findOne({ action: 'index.make' });
    expect(deed).toMatchObject({ ...app.tenant, target: `index ${INDEX} of products`, via: 'command' });
  });

  it('as JSON, of a service by its name; made once', async () => {
    await app.filter('product', 'colored', color);
    const named = words('index', {}).map((word) => ({ '--filter': '--name', '{}': 'colored' })[word] ?? word);
    expect(await admin.json(named)).toEqual({ indexes: [INDEX], key: KEY, isMade: true, isServed: true });
    expect(await admin.json(named)).toEqual({ indexes: [INDEX], isMade: false, isServed: true });
    expect((await admin.run(named)).output).toBe(`This filter is already served by ${INDEX}.`);
  });

  it('--dry-run only tells which', async () => {
    const { output } = await admin.run(words('index', color, '--dry-run'));
    expect(output).toMatch(
      new RegExp(
        `^The command would build the index ${INDEX} of products, over \\d+ records: {"organizationid":1,`,
      ),
    );
    expect(await names()).not.toContain(INDEX);
  });

  it('a hidden one is told of, and so is one with other options', async () => {
    await products().createIndex(KEY, { hidden: true });
    expect(await admin.failure(words('index', color))).toContain(
      `exists, but is hidden from queries. Unhide it: db.products.unhideIndex("${INDEX}").`,
    );
    await products().dropIndex(INDEX);
    await products().createIndex(KEY, { partialFilterExpression: { 'data.n': { $gt: 1000 } } });
    expect(await admin.failure(words('index', color))).toBe(
      `The index ${INDEX} of products exists with other fields or options. Drop it first.`,
    );
  });

  it.each<[string, object, string]>([
    ['for what no index serves', { 'data.n': { $ne: 5 } }, 'No index would serve this filter'],
    ['for what MongoDB refuses', { 'data.n': { $regex: '(' } }, 'MongoDB refuses the filter at data.n'],
  ])('none %s', async (_name, filter, sentence) => {
    expect(await admin.failure(words('index', filter))).toContain(sentence);
  });
});

describe('An index that an operator asked for disturbs nothing', () => {
  const since = async () => {
    const leases = service.db.collection<{ _id: string; since: mongo.Timestamp }>('tidemark.leases');
    return (await leases.findOne({ _id: 'watcher' }))!.since;
  };

  it('it is none of the service, no moment is lost by it, and a harvest that was begun goes on', async () => {
    await service.watcher.caughtUp();
    const before = await since();
    const first = await app.feed('product').page({ limit: 20 });
    expect((await admin.run(words('index', color))).code).toBe(0);
    const keeper = service.app.get(IndexKeeper);
    expect([await keeper.keep(), await keeper.missing()]).toEqual([false, { names: [] }]);
    const next = await app.feed('product').page({ to: first.to, lastoffsetid: first.nextoffsetid });
    expect([first.items.length, next.items.length]).toEqual([20, 30]);
    await app.product({ id: 'new', data: { color: ['c7', 'c8'], n: 6 } });
    await service.watcher.caughtUp();
    expect((await app.feed('product').page({ from: first.to })).ids).toEqual(['new']);
    expect((await since()).compare(before)).toBe(0);
    await admin.run(words('set', color, '--name', 'colored'));
    await service.watcher.caughtUp();
    expect((await app.feed('product', 'colored').page()).ids).toContain('new');
  });

  it('Ctrl-C leaves the making of it to the database', async () => {
    const isAsked = async () => {
      const asked = { ns: products().namespace, 'command.createIndexes': 'products' };
      const found = service.client
        .db('admin')
        .aggregate([{ $currentOp: { allUsers: true } }, { $match: asked }]);
      return (await found.toArray()).length > 0;
    };
    const stop = new AbortController();
    const session = service.client.startSession();
    session.startTransaction();
    await products().insertOne({ ...app.tenant, id: 'never' }, { session });
    const interrupted = admin.run(words('index', color), { interrupted: stop.signal });
    await eventually(isAsked);
    stop.abort();
    const { code, errors } = await interrupted;
    await session.abortTransaction();
    await session.endSession();
    expect([code, errors.at(-1)]).toEqual([
      1,
      'Interrupted: the database continues the build. Run the command again to follow it, or stop it with ' +
        `db.products.dropIndex("${INDEX}").`,
    ]);
    await eventually(async () => (await names()).includes(INDEX));
    expect(await admin.json(words('index', color))).toMatchObject({ isMade: false, isServed: true });
  });
});
