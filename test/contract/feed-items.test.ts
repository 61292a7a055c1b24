import mongoose from 'mongoose';
import type { Kind } from '../../src/kinds/index.js';
import { type TestApplication, TestService } from '../support/index.js';

const { mongo } = mongoose;

const CREATED = new Date('2024-01-02T03:04:05.006Z');
const STAMPED = new Date('2025-03-04T05:06:07.008Z');

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.shared();
});
beforeEach(async () => {
  app = await service.application();
});

/** The only item of a feed. */
async function onlyItem(kind: Kind, ofApp = app): Promise<object> {
  const { items } = await ofApp.feed(kind).page();
  expect(items.length).toBe(1);
  return items[0]!;
}

describe('update item: id, type, createDate, createdBy, lastupdated (lower-case u), data, channels', () => {
  const stored = {
    ...{ id: 'A-1', type: 'bundle', createDate: CREATED, createdBy: 'erp', lastupdated: STAMPED },
    ...{ data: { name: 'Chair', sizes: [1, 2] }, channels: ['web', 'shop'] },
  };
  const shown = {
    ...stored,
    createDate: '2024-01-02T03:04:05.006Z',
    lastupdated: '2025-03-04T05:06:07.008Z',
  };

  it.each<Kind>(['product', 'member'])('a %s as it is stored', async (kind) => {
    await app.put(kind, stored);
    expect(await onlyItem(kind)).toStrictEqual(shown);
  });

  it.each<Kind>(['product', 'member'])('to items nothing is added, whatever else a %s has', async (kind) => {
    await app.put(kind, {
      ...stored,
      emailkey: 'a@b',
      lastUpdated: 'x',
      passwordhash: 'top',
      extra: { a: 1 },
    });
    expect(await onlyItem(kind)).toStrictEqual(shown);
  });

  it.each<[string, Kind, unknown, unknown]>([
    ['[] on a product with none', 'product', [], []],
    ['[] on a product that stores null', 'product', null, []],
    ['[] on a product that stores a number', 'product', 5, []],
    ['one on a product that stores a text', 'product', 'web', ['web']],
    ['texts only', 'product', ['web', 5, null, { a: 1 }, ['deep'], 'shop'], ['web', 'shop']],
    ['[] on a member that stores []', 'member', [], []],
    ['as stored on a member', 'member', ['web'], ['web']],
    ['none on a member that stores null', 'member', null, undefined],
  ])(
    'channels (always on products, [] if none; on members when stored): %s',
    async (_name, kind, channels, want) => {
      await app.put(kind, { ...stored, channels });
      expect((await onlyItem(kind)) as { channels?: unknown }).toStrictEqual(
        want === undefined ? without(shown, 'channels') : { ...shown, channels: want },
      );
    },
  );

  it('channels: [] on a product without the field, none on such a member', async () => {
    for (const kind of ['product', 'member'] as const)
      await app.change(kind, await app.put(kind, stored), { $unset: { channels: '' } });
    expect(await onlyItem('product')).toStrictEqual({ ...shown, channels: [] });
    expect(await onlyItem('member')).toStrictEqual(without(shown, 'channels'));
  });

  it('all timestamps are YYYY-MM-DDTHH:mm:ss.sssZ', async () => {
    const whole = new Date('2024-01-02T00:00:00Z');
    await app.product({ createDate: whole, lastupdated: whole });
    expect(await onlyItem('product')).toMatchObject({
      createDate: '2024-01-02T00:00:00.000Z',
      lastupdated: '2024-01-02T00:00:00.000Z',
    });
  });
});

describe('delete item: id, lastUpdated (capital U)', () => {
  it.each<Kind>(['product', 'member'])('softdeletes of a %s', async (kind) => {
    await app.filter(kind, 'none', { id: 'no such record' });
    await app.put(kind, { id: 'A-1', lastupdated: STAMPED, channels: ['web'], data: { passwordhash: 'x' } });
    const { items } = await app.softDeletes(kind, 'none').page();
    expect(items).toStrictEqual([{ id: 'A-1', lastUpdated: '2025-03-04T05:06:07.008Z' }]);
  });

  it('softdeletes of a channel', async () => {
    await app.product({ channels: ['web'] });
    await app.product({ id: 'A-1', lastupdated: STAMPED });
    const { items } = await app.channel('web', 'softdeletes').page();
    expect(items).toStrictEqual([{ id: 'A-1', lastUpdated: '2025-03-04T05:06:07.008Z' }]);
  });

  it.each<Kind>(['product', 'member'])('harddeletes of a %s', async (kind) => {
    await app.remove(kind, await app.put(kind, { id: 'A-1', data: { a: 1 } }));
    const { items } = await app.hardDeletes(kind).page();
    const offset = (await app.max(kind)).toISOString();
    expect(items).toStrictEqual([{ id: 'A-1', lastUpdated: offset }]);
  });
});

describe('what a record lacks is shown plainly', () => {
  async function shownWith(kind: Kind, fields: mongoose.mongo.Document): Promise<object> {
    await app.put(kind, { id: 'A-1', lastupdated: STAMPED, ...fields });
    return onlyItem(kind);
  }

  it.each<Kind>(['product', 'member'])('nothing but the tenant and a stamp: %s', async (kind) => {
    const record = { ...app.tenant, id: 'A-1', lastupdated: STAMPED };
    const { insertedId } = await service.db.collection(`${kind}s`).insertOne({ ...record });
    expect(await onlyItem(kind)).toStrictEqual({
      id: 'A-1',
      type: kind,
      createDate: insertedId.getTimestamp().toISOString(),
      createdBy: '',
      lastupdated: '2025-03-04T05:06:07.008Z',
      data: {},
      ...(kind === 'product' && { channels: [] }),
    });
  });

  it.each([[null], [5], [['x']], [{ a: 1 }]])('type shows as the kind for %j', async (type) => {
    expect(await shownWith('product', { type })).toMatchObject({ type: 'product' });
  });

  it.each([
    [null],
    ['2024-01-02T03:04:05Z'],
    [1704164645000],
    [[CREATED]],
    [new Date('+010000-01-01T00:00:00Z')],
    [new Date('-000001-12-31T23:59:59Z')],
  ])('createDate as the time in _id for %p', async (createDate) => {
    const { _id } = await app.product({ createDate });
    expect(await onlyItem('product')).toMatchObject({ createDate: _id.getTimestamp().toISOString() });
  });

  it.each([[null], [5], [['erp']], [{ a: 1 }]])('createdBy as "" for %j', async (createdBy) => {
    expect(await shownWith('member', { createdBy })).toMatchObject({ createdBy: '' });
  });

  it.each([
    [null],
    [5],
    ['text'],
    [true],
    [['x']],
    [STAMPED],
    [new mongo.ObjectId()],
    [mongo.Decimal128.fromString('1')],
    [new mongo.Binary(Buffer.from('x'))],
  ])('data as {} for %p', async (data) => {
    for (const kind of ['product', 'member'] as const) {
      await app.put(kind, { data });
      expect(((await onlyItem(kind)) as { data: unknown }).data).toStrictEqual({});
    }
  });
});

describe('data.passwordhash is in no answer of any endpoint, whoever wrote it', () => {
  const secret = {
    passwordhash: '$argon2id$secret',
    email: 'a@b',
    deeper: { passwordhash: 'of no concern' },
  };

  it('not in the feed of members', async () => {
    await app.filter('member', 'all', {});
    await app.member({ data: secret });
    for (const feed of [app.feed('member'), app.feed('member', 'all')]) {
      const { items, answer } = await feed.page();
      expect(items[0]?.data).toStrictEqual(without(secret, 'passwordhash'));
      expect(answer.text).not.toContain(secret.passwordhash);
    }
  });

  it('not even where data looks like a reference to another document', async () => {
    await app.member({ data: { $ref: 'people', $id: 1, passwordhash: secret.passwordhash, a: 1 } });
    expect(await onlyItem('member')).toMatchObject({ data: { $ref: 'people', $id: 1, a: 1 } });
    expect((await app.feed('member').page()).answer.text).not.toContain(secret.passwordhash);
  });

  it('unless settings.replicatepasswordhash is true: then in the feeds only', async () => {
    const open = await service.application({ settings: { replicatepasswordhash: true } });
    const { id } = await open.member({ data: secret });
    expect(await onlyItem('member', open)).toMatchObject({ data: secret });
    const read = await open.send('GET', `api/v0.1/member/${id}`);
    expect(read.status).toBe(200);
    expect(read.text).not.toContain(secret.passwordhash);
  });

  it.each([false, 'true', 1, null])(
    'replicatepasswordhash: %j is not true',
    async (replicatepasswordhash) => {
      const closed = await service.application({ settings: { replicatepasswordhash } });
      await closed.member({ data: secret });
      expect((await closed.feed('member').page()).answer.text).not.toContain(secret.passwordhash);
    },
  );

  it('a change of the setting takes effect within 2 s', async () => {
    await app.member({ data: secret });
    await service.db
      .collection('applications')
      .updateOne(app.tenant, { $set: { 'settings.replicatepasswordhash': true } });
    expect(await onlyItem('member')).toMatchObject({ data: secret });
  });

  it('a product may have a key of that name', async () => {
    await app.product({ data: secret });
    expect(await onlyItem('product')).toMatchObject({ data: secret });
  });
});

function without<T extends object>(value: T, key: keyof T): object {
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== key));
}
