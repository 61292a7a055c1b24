import { createHmac } from 'node:crypto';
import type { mongo } from 'mongoose';
import { rotateHashKey } from '../../src/replication/store/index.js';
import { type Stored, type TestApplication, TestService } from '../support/index.js';
import { onceServed } from '../support/patience.js';
import { changesOf } from './changes-feed.js';
import { CANARY, dataOf, setService, TO_NOW } from './shown-fields.js';

let service: TestService;
let other: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.start();
  other = await service.another();
});
beforeEach(async () => {
  app = await service.application();
});
afterAll(async () => {
  await other.leave();
  await service.stop();
});

const services = () => service.db.collection('services');
const versions = () => service.db.collection('tidemark.filterversions');

/** Every text in which a service delivers records. */
async function textsOf(path: string): Promise<string[]> {
  const asked = [
    () => app.get(`${path}/updates`, TO_NOW),
    () => app.get(`${path}/changes`),
    () => app.get(`${path}/changes`, { headers: { accept: 'application/x-ndjson' } }),
  ];
  return Promise.all(asked.map(async (ask) => (await onceServed(ask)).text));
}

describe('the fields of a service', () => {
  it.each<[string, mongo.Document, object]>([
    [
      'except',
      { fields: { except: ['data.secret', 'data.rows.secret'] } },
      { name: 'Chair', rows: [{ n: 1 }, {}] },
    ],
    ['only', { fields: { only: ['data.name', 'data.rows.n'] } }, { name: 'Chair', rows: [{ n: 1 }, {}] }],
    ['only, empty', { fields: { only: [] } }, {}],
  ])('%s: in updates and changes, as JSON and as lines', async (_name, fields, data) => {
    const rows = [{ n: 1, secret: CANARY }, { secret: CANARY }];
    await app.product({ id: 'a', data: { name: 'Chair', secret: CANARY, rows } });
    await app.filter('product', 'erp', { id: 'a' }, fields);
    const texts = await textsOf('product/erp');
    for (const text of texts) {
      expect(text).not.toContain(CANARY);
      expect(text).toContain(JSON.stringify(data));
    }
    expect(await textsOf('product/default')).toEqual(
      texts.map(() => expect.stringContaining(CANARY) as unknown),
    );
  });

  it('leave deletes, max and digest as they are', async () => {
    const [a, b] = [
      await app.product({ id: 'a', data: { n: 1 } }),
      await app.product({ id: 'b', data: { n: 1 } }),
    ];
    await app.filter('product', 'whole', { 'data.n': 1 });
    await app.filter('product', 'part', { 'data.n': 1 }, { fields: { only: ['data.n'] }, hash: ['data.x'] });
    await app.change('product', a, { $set: { 'data.n': 2 }, $currentDate: { lastupdated: true } });
    await app.remove('product', b);
    const to = (await app.max('product')).toISOString();
    for (const feed of ['softdeletes', 'digest']) {
      const texts: string[] = [];
      for (const name of ['whole', 'part'])
        texts.push((await onceServed(() => app.get(`product/${name}/${feed}`, { query: { to } }))).text);
      expect(texts[1]).toBe(texts[0]);
    }
    const { result } = await changesOf(app, 'product/part', { to });
    expect(result.map(({ op, id, reason }) => ({ op, id, reason }))).toEqual([
      { op: 'delete', id: 'a', reason: 'left' },
      { op: 'delete', id: 'b', reason: 'gone' },
    ]);
  });

  it('createdBy and channels are left out by name', async () => {
    await app.product({ id: 'a', createdBy: CANARY, channels: ['web'] });
    await app.filter('product', 'erp', { id: 'a' }, { fields: { except: ['createdBy', 'channels'] } });
    const [item] = await app.feed('product', 'erp').drain();
    expect(Object.keys(item!)).toEqual(['id', 'type', 'createDate', 'lastupdated', 'data']);
  });
});

describe('default has fields too', () => {
  it('which are those of the channels', async () => {
    await app.product({ id: 'a', data: { name: 'Chair', secret: CANARY }, channels: ['web'] });
    await setService(app, 'default', { $set: { fields: { except: ['data.secret'] } } });
    const texts = [...(await textsOf('product/default')), ...(await textsOf('productbychannel/web'))];
    for (const text of texts) {
      expect(text).not.toContain(CANARY);
      expect(text).toContain('"data":{"name":"Chair"}');
    }
    expect((await app.softDeletes('product').page()).items).toEqual([]);
  });

  it('are in force in an instance that knew that there were none', async () => {
    await app.product({ id: 'a', data: { secret: CANARY } });
    const instances = [app, app.seenBy(other)];
    for (const one of instances) expect(await dataOf(one, 'default')).toEqual({ a: { secret: CANARY } });
    await setService(app, 'default', { $set: { fields: { except: ['data.secret'] } } });
    for (const one of instances) expect(await dataOf(one, 'default')).toEqual({ a: {} });
  });

  it('an edit of them delivers the records that have an affected field, and no others', async () => {
    await app.product({ id: 'with', data: { secret: 1 } });
    await app.product({ id: 'without', data: { n: 1 } });
    const first = await app.max('product');
    await setService(app, 'default', { $set: { fields: { except: ['data.secret'] } } });
    expect(await dataOf(app, 'default', first)).toEqual({ with: {} });
    const second = await app.max('product');
    await setService(app, 'default', {
      $set: { filter: { never: 'read' }, fields: { except: ['data.none'] } },
    });
    expect(await dataOf(app, 'default', second)).toEqual({ with: { secret: 1 } });
    const third = await app.max('product');
    await setService(app, 'default', { $set: { fields: { only: ['data.n', 'createdBy', 'channels'] } } });
    expect(await dataOf(app, 'default', third)).toEqual({ with: {} });
    const fourth = await app.max('product');
    await services().deleteOne({ ...app.tenant, name: 'default' });
    await service.watcher.caughtUp();
    expect(await dataOf(app, 'default', fourth)).toEqual({ with: { secret: 1 } });
  });
});

describe('an edit of fields', () => {
  const DATA = { a: 1, b: { c: 1, d: 1 }, rows: [{ e: 1 }] };
  beforeEach(async () => {
    await app.product({ id: 'all', data: { ...DATA } });
    await app.product({ id: 'none', data: { z: 1 } });
    await app.product({ id: 'other', data: { ...DATA, isOther: true } });
    await app.filter('product', 'erp', { 'data.isOther': { $exists: false } }, { allowHiddenFilter: true });
  });

  it.each<[mongo.Document, mongo.Document, string[]]>([
    [{}, { fields: { except: ['data.a'] } }, ['all']],
    [{}, { fields: { except: ['data.x', 'data.b.x'] } }, []],
    [{}, { fields: { only: ['data.a', 'data.b', 'data.rows', 'createdBy', 'channels'] } }, ['none']],
    [{ fields: { only: ['data.b.c'] } }, { fields: { only: ['data.b.c', 'data.rows.e'] } }, ['all']],
    [{ fields: { except: ['data.a'] } }, { hash: ['data.a'] }, ['all']],
    [{ fields: { except: ['data.a'] } }, { fields: { except: ['data.a', 'data.a.b'] } }, []],
    [{ hash: ['data.b.c'] }, { hash: ['data.b.c', 'data.z'] }, ['none']],
  ])('from %j to %j delivers %j, in every instance', async (before, after, ids) => {
    if (Object.keys(before).length > 0) await setService(app, 'erp', { $set: before });
    const back = await app.max('product');
    await services().updateOne({ ...app.tenant, name: 'erp' }, [
      { $unset: ['fields', 'hash'] },
      { $set: Object.fromEntries(Object.entries(after).map(([name, value]) => [name, { $literal: value }])) },
    ]);
    await service.watcher.caughtUp();
    const delivered = await dataOf(app, 'erp', back);
    expect(Object.keys(delivered)).toEqual(ids);
    expect(await dataOf(app.seenBy(other), 'erp', back)).toEqual(delivered);
  });

  it('together with one of the filter delivers what either concerns', async () => {
    const from = await app.max('product');
    await setService(app, 'erp', {
      $set: { filter: { id: { $ne: 'none' } }, fields: { except: ['data.a'] } },
    });
    expect(Object.keys(await dataOf(app, 'erp', from))).toEqual(['all', 'other']);
    expect(await app.softDeletes('product', 'erp').drain({ from })).toEqual([
      expect.objectContaining({ id: 'none' }),
    ]);
  });

  it('waits with its own feeds until the records are stamped', async () => {
    await setService(app, 'erp', { $set: { hash: ['data.a'] } });
    const entry = await versions().findOne({ ...app.tenant, name: 'erp' });
    expect(entry).toMatchObject({ state: 'on', pending: false, fields: { hash: ['data.a'] } });
    expect(entry).not.toHaveProperty('previousFields');
  });
});

describe('createdBy and channels', () => {
  it('count as fields of every record, so that an edit of them delivers records that store neither', async () => {
    const record = await app.product({ id: 'a', data: { n: 1 } });
    await app.change('product', record, { $unset: { createdBy: '', channels: '' } });
    const from = await app.max('product');
    await setService(app, 'default', { $set: { hash: ['createdBy'] } });
    const [item] = await app.feed('product').drain({ from });
    expect(item).toMatchObject({
      id: 'a',
      channels: [],
      createdBy: expect.stringMatching(/^[\w-]{22}$/) as string,
    });
  });
});

describe('hashed values', () => {
  const keyOf = async () => {
    const stored = await service.db.collection('tidemark.hashkeys').findOne(app.tenant);
    return (stored!['key'] as mongo.Binary).buffer;
  };
  const hashOf = async (canonical: string) =>
    createHmac('sha256', await keyOf())
      .update(canonical)
      .digest()
      .subarray(0, 16)
      .toString('base64url');
  let record: Stored;
  beforeEach(async () => {
    record = await app.product({ id: 'a', data: { n: 1, address: { zip: '89073', city: 'Ulm' } } });
    await app.filter('product', 'erp', { id: 'a' }, { hash: ['data.n', 'data.address'] });
  });

  it('are HMAC-SHA-256 of the canonical JSON, under a key of the application', async () => {
    expect(await dataOf(app, 'erp')).toEqual({
      a: { n: await hashOf('1'), address: await hashOf('{"city":"Ulm","zip":"89073"}') },
    });
    await app.member({ id: 'm', data: { n: 1 } });
    await app.filter('member', 'crm', { id: 'm' }, { hash: ['data.n'] });
    const [item] = await app.feed('member', 'crm').drain();
    expect(item).toMatchObject({ data: { n: await hashOf('1') } });
  });

  it('of a reference are those of its members as an item shows them, wherever it stands', async () => {
    const reference = { $ref: 'people', $id: 7, $db: 'crm', since: 2020 };
    const canonical = '{"$db":"crm","$id":7,"$ref":"people","since":2020}';
    await app.product({ id: 'r', data: { to: reference, deep: { to: [reference] } } });
    await app.filter('product', 'refs', { id: 'r' }, { hash: ['data.to', 'data.deep'] });
    expect(await dataOf(app, 'refs')).toEqual({
      r: { to: await hashOf(canonical), deep: await hashOf(`{"to":[${canonical}]}`) },
    });
  });

  it('differ in another application', async () => {
    const mine = await dataOf(app, 'erp');
    const before = app;
    app = await service.application();
    await app.product({ id: 'a', data: record['data'] as object });
    await app.filter('product', 'erp', { id: 'a' }, { hash: ['data.n', 'data.address'] });
    expect(await dataOf(app, 'erp')).not.toEqual(mine);
    app = before;
  });

  it('are delivered again under a new key, and nothing else is', async () => {
    await app.product({ id: 'b', data: { x: 1 } });
    await setService(app, 'all', { $set: { filter: {}, hash: ['data.n'] } });
    await setService(app, 'plain', { $set: { filter: {} } });
    const [before, from] = [await dataOf(app, 'all'), await app.max('product')];
    await rotateHashKey(service.db, app.tenant);
    await service.watcher.caughtUp();
    const after = await dataOf(app, 'all', from);
    expect(Object.keys(after)).toEqual(['a']);
    expect(after['a']).not.toEqual(before['a']);
    expect(after['a']).toMatchObject({ n: await hashOf('1') });
  });
});
