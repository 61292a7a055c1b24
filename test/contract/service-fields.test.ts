import { createHmac } from 'node:crypto';
import type { mongo } from 'mongoose';
import { rotateHashKey } from '../../src/replication/store/index.js';
import {
  eventually,
  expectProblem,
  type Stored,
  type TestApplication,
  TestService,
} from '../support/index.js';
import { onceServed } from '../support/patience.js';
import { changesOf } from './changes-feed.js';

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

/** Changes the document of a service, as an operator does by hand, and waits until that is in force. */
async function set(name: string, update: mongo.Document, kind = 'product'): Promise<void> {
  const key = { ...app.tenant, kind, name };
  await services().updateOne(key, { ...update, $setOnInsert: key }, { upsert: true });
  await service.watcher.caughtUp();
}

/** The `data` of each record in `updates`, by its id. */
async function dataOf(name: string, from?: Date, seenBy = app): Promise<Record<string, unknown>> {
  const to = await seenBy.max('product');
  const items = await seenBy.feed('product', name).drain({ to, ...(from && { from }) });
  return Object.fromEntries(items.map((item) => [item.id, (item as unknown as { data: unknown }).data]));
}

const TO_NOW = { query: { to: '9999-12-31T23:59:59.999Z' } };
const CANARY = 'canary-5b1f';

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
    await set('default', { $set: { fields: { except: ['data.secret'] } } });
    const texts = [...(await textsOf('product/default')), ...(await textsOf('productbychannel/web'))];
    for (const text of texts) {
      expect(text).not.toContain(CANARY);
      expect(text).toContain('"data":{"name":"Chair"}');
    }
    expect((await app.softDeletes('product').page()).items).toEqual([]);
  });

  it('an edit of them delivers the records that have a concerned field, and no others', async () => {
    await app.product({ id: 'with', data: { secret: 1 } });
    await app.product({ id: 'without', data: { n: 1 } });
    const first = await app.max('product');
    await set('default', { $set: { fields: { except: ['data.secret'] } } });
    expect(await dataOf('default', first)).toEqual({ with: {} });
    const second = await app.max('product');
    await set('default', { $set: { filter: { never: 'read' }, fields: { except: ['data.none'] } } });
    expect(await dataOf('default', second)).toEqual({ with: { secret: 1 } });
    const third = await app.max('product');
    await set('default', { $set: { fields: { only: ['data.n', 'createdBy', 'channels'] } } });
    expect(await dataOf('default', third)).toEqual({ with: {} });
    const fourth = await app.max('product');
    await services().deleteOne({ ...app.tenant, name: 'default' });
    await service.watcher.caughtUp();
    expect(await dataOf('default', fourth)).toEqual({ with: { secret: 1 } });
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
    if (Object.keys(before).length > 0) await set('erp', { $set: before });
    const back = await app.max('product');
    await services().updateOne({ ...app.tenant, name: 'erp' }, [
      { $unset: ['fields', 'hash'] },
      { $set: Object.fromEntries(Object.entries(after).map(([name, value]) => [name, { $literal: value }])) },
    ]);
    await service.watcher.caughtUp();
    const delivered = await dataOf('erp', back);
    expect(Object.keys(delivered)).toEqual(ids);
    expect(await dataOf('erp', back, app.seenBy(other))).toEqual(delivered);
  });

  it('together with one of the filter delivers what either concerns', async () => {
    const from = await app.max('product');
    await set('erp', { $set: { filter: { id: { $ne: 'none' } }, fields: { except: ['data.a'] } } });
    expect(Object.keys(await dataOf('erp', from))).toEqual(['all', 'other']);
    expect(await app.softDeletes('product', 'erp').drain({ from })).toEqual([
      expect.objectContaining({ id: 'none' }),
    ]);
  });

  it('waits with its own feeds until the records are stamped', async () => {
    await set('erp', { $set: { hash: ['data.a'] } });
    const entry = await versions().findOne({ ...app.tenant, name: 'erp' });
    expect(entry).toMatchObject({ state: 'on', pending: false, fields: { hash: ['data.a'] } });
    expect(entry).not.toHaveProperty('previousFields');
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
    expect(await dataOf('erp')).toEqual({
      a: { n: await hashOf('1'), address: await hashOf('{"city":"Ulm","zip":"89073"}') },
    });
    await app.member({ id: 'm', data: { n: 1 } });
    await app.filter('member', 'crm', { id: 'm' }, { hash: ['data.n'] });
    const [item] = await app.feed('member', 'crm').drain();
    expect(item).toMatchObject({ data: { n: await hashOf('1') } });
  });

  it('differ in another application', async () => {
    const mine = await dataOf('erp');
    const before = app;
    app = await service.application();
    await app.product({ id: 'a', data: record['data'] as object });
    await app.filter('product', 'erp', { id: 'a' }, { hash: ['data.n', 'data.address'] });
    expect(await dataOf('erp')).not.toEqual(mine);
    app = before;
  });

  it('are delivered again under a new key, and nothing else is', async () => {
    await app.product({ id: 'b', data: { x: 1 } });
    await set('all', { $set: { filter: {}, hash: ['data.n'] } });
    await set('plain', { $set: { filter: {} } });
    const [before, from] = [await dataOf('all'), await app.max('product')];
    await rotateHashKey(service.db, app.tenant);
    await service.watcher.caughtUp();
    const after = await dataOf('all', from);
    expect(Object.keys(after)).toEqual(['a']);
    expect(after['a']).not.toEqual(before['a']);
    expect(after['a']).toMatchObject({ n: await hashOf('1') });
  });
});

describe('what cannot be read delivers nothing: 500 service-misconfigured', () => {
  const WRONG: mongo.Document[] = [
    { fields: 'data.secret' },
    { fields: [] },
    { fields: { exept: ['data.secret'] } },
    { fields: { only: ['data.n'], except: ['data.secret'] } },
    { fields: { except: ['data.secret', 5] } },
    { fields: { except: ['secret'] } },
    { fields: { except: ['id'] } },
    { fields: { except: Array.from({ length: 201 }, (_, index) => `data.n${index}`) } },
    { fields: { except: [`data.${'x'.repeat(140_000)}`] } },
    { hash: 'data.secret' },
    { hash: ['data.secret'], fields: { except: ['data.secret'] } },
    { allowHiddenFilter: 'yes', fields: { except: ['data.secret'] } },
  ];

  it('documents by hand', async () => {
    await app.product({ id: 'a', data: { n: 1, secret: CANARY }, channels: ['web'] });
    const kept = { ...app.tenant, kind: 'product', filter: { id: 'a' } };
    await services().insertMany(WRONG.map((fields, index) => ({ ...kept, ...fields, name: `s${index}` })));
    await app.filter('product', 'told', { 'data.secret': CANARY }, { fields: { except: ['data.secret'] } });
    await app.filter(
      'product',
      'allowed',
      { 'data.secret': CANARY },
      {
        fields: { except: ['data.secret'] },
        allowHiddenFilter: true,
      },
    );
    for (const name of [...WRONG.map((_, index) => `s${index}`), 'told'])
      for (const feed of ['updates', 'changes', 'softdeletes', 'digest']) {
        const answer = await onceServed(() => app.get(`product/${name}/${feed}`, TO_NOW));
        expectProblem(answer, 500, 'service-misconfigured');
        expect(answer.text).not.toContain(CANARY);
      }
    expect(await dataOf('allowed')).toEqual({ a: { n: 1 } });
  });

  it('default, and with it the channels', async () => {
    await app.product({ id: 'a', data: { secret: CANARY }, channels: ['web'] });
    await set('default', { $set: { fields: { exept: ['data.secret'] } } });
    for (const path of ['product/default/updates', 'product/default/changes', 'productbychannel/web/updates'])
      expectProblem(await onceServed(() => app.get(path, TO_NOW)), 500, 'service-misconfigured');
    const from = await app.max('product');
    await set('default', { $set: { fields: { except: ['data.secret'] } } });
    expect(await dataOf('default', from)).toEqual({ a: {} });
  });

  it('an entry in force that another program has damaged', async () => {
    await app.product({ id: 'a', data: { secret: CANARY } });
    await app.filter('product', 'erp', { id: 'a' }, { fields: { except: ['data.secret'] } });
    expect(await dataOf('erp')).toEqual({ a: {} });
    for (const fields of ['data.secret', { hash: ['data.secret'] }, { except: 'all' }]) {
      await versions().updateOne({ ...app.tenant, name: 'erp' }, { $set: { fields } });
      await service.watcher.caughtUp();
      const answer = await onceServed(() => app.get('product/erp/updates', TO_NOW));
      expect(answer.text).not.toContain(CANARY);
      expectProblem(answer, 500, 'service-misconfigured');
    }
  });
});

describe('a collection of the service is dropped', () => {
  it('tidemark.hashkeys: each application gets a new key, and hashed values are delivered again', async () => {
    await app.product({ id: 'a', data: { n: 1 } });
    await app.product({ id: 'b', data: { x: 1 } });
    await set('all', { $set: { filter: {}, hash: ['data.n'] } });
    const [before, from] = [await dataOf('all'), await app.max('product')];
    await service.db.collection('tidemark.hashkeys').drop();
    await eventually(async () => {
      await service.watcher.caughtUp();
      return Object.keys(await dataOf('all', from)).length > 0;
    });
    const after = await dataOf('all', from);
    expect(Object.keys(after)).toEqual(['a']);
    expect(after).not.toEqual({ a: before['a'] });
  });

  it('tidemark.filterversions: no page shows what default hides, before, while and after it is written again', async () => {
    await app.product({ id: 'a', data: { secret: CANARY }, channels: ['web'] });
    await set('default', { $set: { fields: { except: ['data.secret'] } } });
    const paths = ['product/default/updates', 'productbychannel/web/updates'];
    const seenBy = [app, app.seenBy(other)];
    const statuses = new Set<number>();
    let isOver = false;
    const reading = seenBy.flatMap((reader) =>
      paths.map(async (path) => {
        while (!isOver) {
          const { status, text } = await reader.get(path, TO_NOW);
          statuses.add(status);
          expect(text).not.toContain(CANARY);
        }
      }),
    );
    for (let drop = 0; drop < 3; drop += 1) {
      await versions().drop();
      await eventually(async () => (await versions().countDocuments({ ...app.tenant, pending: false })) > 0);
      await app.max('product');
    }
    isOver = true;
    await Promise.all(reading);
    expect([...statuses].sort()).toEqual([200, 503]);
    expect(await dataOf('default')).toEqual({ a: {} });
  });
});
