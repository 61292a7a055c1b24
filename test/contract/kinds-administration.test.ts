import type { mongo } from 'mongoose';
import {
  type Answer,
  eventually,
  expectProblem,
  send,
  type SendOptions,
  type TestApplication,
  TestService,
} from '../support/index.js';
import { AdminConsole } from './admin-console.js';

let service: TestService;
let app: TestApplication;
let root: string;
let commands: AdminConsole;
beforeAll(async () => {
  service = await TestService.alone();
  app = await service.application({ organizationid: 'acme', appid: 'shop' });
  root = await app.credential({ level: 'admin', scopes: [{ organizationid: '*', appid: '*' }] });
  commands = new AdminConsole(service.uri);
});
afterAll(() => service?.stop());
afterEach(async () => {
  await service.db.collection('services').deleteMany({ kind: { $nin: ['member', 'product'] } });
  await service.db.collection('tidemark.consumers').deleteMany({});
  await service.db.collection('kinds').deleteMany({});
});

const stored = () => service.db.collection('kinds');
const admin = (method: string, path: string, options: SendOptions = {}): Promise<Answer> =>
  send(`${service.url}/admin/v1/${path}`, method, { user: root, ...options });
const create = (body: object) => admin('POST', 'kinds', { body });
const ORDER = { name: 'order', collection: 'orders' };

const trail = async (): Promise<object[]> => {
  const { json } = await admin('GET', 'audittrail?limit=3');
  return (json as { result: object[] }).result;
};

describe('A kind over HTTP', () => {
  it('is created, known at once, shown and listed', async () => {
    const created = await create({ ...ORDER, plural: 'purchase orders' });
    expect(created.status).toBe(201);
    expect(created.headers.get('location')).toBe('kinds/order');
    expect(created.json).toMatchObject({
      ...{ ...ORDER, plural: 'purchase orders', id: 'id', lastupdated: 'lastupdated' },
      ...{ channels: false, data: true, isBuiltIn: false },
    });
    // At once: it is not 404.
    expect([200, 503]).toContain((await app.get('order/max')).status);
    await eventually(async () => (await app.get('order/max')).status === 200);
    const shown = await admin('GET', 'kinds/order');
    expect(shown.headers.get('etag')).toBe(created.headers.get('etag'));
    expect(shown.json).toMatchObject({ ...ORDER, state: 'ready' });
    const { result } = (await admin('GET', 'kinds')).json as { result: { name: string; state: string }[] };
    expect(result.map(({ name, state }) => [name, state])).toEqual([
      ['member', 'ready'],
      ['product', 'ready'],
      ['order', 'ready'],
    ]);
    expect(await trail()).toContainEqual(
      expect.objectContaining({ action: 'kind.create', target: 'kind order', who: root, via: 'http' }),
    );
    expect((await admin('GET', 'session', { user: root })).json).toMatchObject({
      kinds: ['member', 'product', 'order'],
    });
  });

  it('is removed under its ETag, and unknown at once', async () => {
    const created = await create(ORDER);
    expectProblem(
      await admin('DELETE', 'kinds/order', { headers: { 'if-match': '"x"' } }),
      412,
      'precondition-failed',
    );
    const headers = { 'if-match': String(created.headers.get('etag')) };
    expect(await admin('DELETE', 'kinds/order', { headers })).toMatchObject({
      status: 200,
      json: { removed: { services: 0, consumers: 0 } },
    });
    expectProblem(await app.get('order/max'), 404, 'unknown-kind');
    expectProblem(await admin('GET', 'kinds/order'), 404, 'unknown-kind');
    expectProblem(await admin('DELETE', 'kinds/order'), 404, 'unknown-kind');
    expect(await trail()).toContainEqual(
      expect.objectContaining({ action: 'kind.remove', target: 'kind order' }),
    );
  });

  it('needs a credential that covers every application', async () => {
    const owner = await app.credential({ level: 'admin', scopes: [{ organizationid: 'acme', appid: '*' }] });
    for (const [method, path, body] of [
      ['GET', 'kinds'],
      ['GET', 'kinds/order'],
      ['POST', 'kinds', ORDER],
      ['DELETE', 'kinds/order'],
    ] as const)
      expect(
        expectProblem(await admin(method, path, { user: owner, ...(body && { body }) }), 403, 'out-of-scope')
          .detail,
      ).toBe('This request requires a credential whose scopes cover every organization and application.');
    expect(await stored().countDocuments()).toBe(0);
  });

  it('is not edited: a second one of its name, or over its collection, is refused', async () => {
    await create(ORDER);
    const again = expectProblem(await create({ ...ORDER, collection: 'other' }), 409, 'name-taken');
    expect(again.detail).toContain('A kind is not edited: remove it and create it again.');
    const shared = expectProblem(await create({ ...ORDER, name: 'purchase' }), 409, 'name-taken');
    expect(shared.detail).toContain('The collection "orders" is already used by the kind "order".');
    expect(await stored().countDocuments()).toBe(1);
  });

  it('of two that are created at the same time, one is', async () => {
    const answers = await Promise.all([create(ORDER), create(ORDER), create({ ...ORDER, name: 'other' })]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
  });

  it('is refused beyond the maximum', async () => {
    await stored().insertMany(
      Array.from({ length: 50 }, (_, n) => ({ name: `kind-${n}`, collection: `records-${n}` })),
    );
    expectProblem(await create(ORDER), 409, 'too-many-kinds');
    expect(await stored().countDocuments()).toBe(50);
  });

  it('a built-in one stays', async () => {
    expectProblem(await admin('DELETE', 'kinds/member?purge=true'), 400, 'invalid-request');
    expect((await admin('GET', 'kinds/member')).json).toMatchObject({
      collection: 'members',
      isBuiltIn: true,
    });
  });
});

describe('Bad input is refused with its place, and nothing is stored', () => {
  it.each<[string, object, string]>([
    ['/name', { ...ORDER, name: 'Order' }, 'must begin with a lower-case letter'],
    ['/name', { ...ORDER, name: 'member' }, 'is built in'],
    ['/name', { ...ORDER, name: 'productbychannel' }, 'is reserved'],
    ['/name', { ...ORDER, name: 7 }, 'is not a string'],
    ['/name', { collection: 'orders' }, 'is missing'],
    ['/collection', { name: 'order' }, 'is missing'],
    ['/collection', { ...ORDER, collection: 'members' }, 'is the collection of the kind "member"'],
    ['/collection', { ...ORDER, collection: 'tidemark.ledger' }, 'is a collection of the service itself'],
    ['/collection', { ...ORDER, collection: 'kinds' }, 'is a collection of the service itself'],
    ['/collection', { ...ORDER, collection: 'a$b' }, 'must name a collection'],
    ['/id', { ...ORDER, id: 'a.b' }, 'must name a field'],
    ['/id', { ...ORDER, id: '_id' }, 'has a meaning of its own'],
    ['/lastupdated', { ...ORDER, lastupdated: '$now' }, 'must name a field'],
    ['/appid', { ...ORDER, organizationid: 'acme' }, 'is missing although organizationid is present'],
    ['/organizationid', { ...ORDER, organizationid: 'no', appid: 'where' }, 'there is no no/where'],
    ['/channels', { ...ORDER, channels: 'yes' }, 'is not true or false'],
    ['/fields', { ...ORDER, fields: [] }, 'is an unknown property'],
  ])('%s of %j', async (pointer, body, detail) => {
    const { errors } = expectProblem(await create(body), 400, 'invalid-request');
    expect(errors).toContainEqual({ pointer, detail: expect.stringContaining(detail) });
    expect(await stored().countDocuments()).toBe(0);
  });

  it('all faults at once', async () => {
    const body = { name: 'Order', collection: 'members', id: 'a.b', appid: 'shop' };
    const { errors } = expectProblem(await create(body), 400, 'invalid-request');
    expect(errors?.map((one) => ('pointer' in one ? one.pointer : ''))).toEqual([
      ...['/name', '/collection', '/id', '/organizationid'],
    ]);
  });

  it.each<[string, mongo.CreateCollectionOptions]>([
    ['is a view', { viewOn: 'orders' }],
    ['is capped', { capped: true, size: 100_000 }],
    ['is a time series', { timeseries: { timeField: 'lastupdated' } }],
    ['has a collation', { collation: { locale: 'en', strength: 2 } }],
  ])('a collection that %s', async (flaw, options) => {
    await service.db.createCollection('unfit', options);
    const { errors } = expectProblem(await create({ ...ORDER, collection: 'unfit' }), 400, 'invalid-request');
    expect(errors).toEqual([{ pointer: '/collection', detail: expect.stringContaining(`"unfit" ${flaw}`) }]);
    const said = await commands.failure('kind create --name order --collection unfit');
    expect(said).toMatch(new RegExp(`^--collection "unfit" ${flaw}`));
    await service.db.dropCollection('unfit');
    expect(await stored().countDocuments()).toBe(0);
  });

  it.each([
    ['--name Order --collection orders', '--name must begin with a lower-case letter'],
    ['--name order --collection members', '--collection "members" is the collection of the kind "member"'],
    ['--name order --collection orders --id a.b', '--id must name a field'],
    ['--name order --collection orders --org acme', '--app is missing although organizationid is present'],
    [
      '--name order --collection orders --org no --app where',
      '--org names no application: there is no no/where',
    ],
  ])('by the command: %s', async (options, said) => {
    expect(await commands.failure(`kind create ${options}`)).toContain(said);
    expect(await stored().countDocuments()).toBe(0);
  });
});

describe('`kind create|list|remove`', () => {
  it('creates a kind that the service serves, lists it and removes it', async () => {
    expect(await commands.run('kind create --name parcel --collection parcels')).toEqual({
      code: 0,
      output:
        'The kind parcel is created. Its feeds answer 503 until the first pass over its records has ended.',
      errors: [],
    });
    // A feed that is read would make a consumer, as other tests do of theirs.
    await eventually(async () => /^parcel +parcels +ready$/m.test((await commands.run('kind list')).output));
    expect(await commands.json('kind remove --name parcel')).toEqual({
      name: 'parcel',
      removed: { services: 0, consumers: 0 },
    });
    expect(await commands.failure('kind remove --name parcel')).toContain('There is no kind "parcel"');
    expect(await commands.failure('kind remove --name member')).toContain('is built in');
    await eventually(async () => (await app.get('parcel/max')).status === 404);
  });

  it('stores what differs from the usual', async () => {
    const options = '--id number --lastupdated changedAt --org acme --app shop --channels --without-data';
    await commands.run(`kind create --name order --collection orders --plural orders ${options}`);
    const [{ _id: _, ...kind } = { _id: undefined }] = await stored().find().toArray();
    expect(kind).toEqual({
      ...ORDER,
      ...{ id: 'number', lastupdated: 'changedAt', organizationid: 'acme', appid: 'shop' },
      ...{ channels: true, data: false },
    });
    expect((await commands.run('kind list')).output).toContain(
      'all of acme/shop, id in number, stamp in changedAt, with channels, without data',
    );
  });

  it('with services or consumers, it is removed with --purge only; its records stay', async () => {
    await commands.run('kind create --name order --collection orders');
    await service.db.collection('orders').insertOne({ ...app.tenant, id: 'o1', data: { n: 1 } });
    await eventually(async () => (await app.get('order/max')).status === 200);
    await app.filter('order', 'large', { 'data.n': { $gt: 0 } });
    await service.db.collection<object>('tidemark.consumers').insertOne({
      _id: { ...app.tenant, username: 'reader', kind: 'order', service: 'large' },
    } as object);
    expect(await commands.failure('kind remove --name order')).toBe(
      'The kind "order" still has services and consumers. With --purge it is removed with them.',
    );
    const refused = expectProblem(await admin('DELETE', 'kinds/order'), 409, 'in-use');
    expect(refused.detail).toContain('still has services and consumers. With purge=true');
    expect((await commands.run('kind remove --name order --purge')).output).toMatch(
      /^The kind order is removed, with 1 service and the notes about \d consumers?\. Its records stay\.$/,
    );
    expect(await service.db.collection('tidemark.consumers').countDocuments({ '_id.kind': 'order' })).toBe(0);
    expect(await service.db.collection('services').countDocuments({ kind: 'order' })).toBe(0);
    expect(await service.db.collection('orders').countDocuments({ id: 'o1' })).toBe(1);
    expect(await service.db.collection('tidemark.ledger').countDocuments({ kind: 'order', id: 'o1' })).toBe(
      1,
    );
    expect(await trail()).toContainEqual(expect.objectContaining({ action: 'kind.purge', via: 'command' }));
  });
});

describe('A document of `kinds` that cannot be used', () => {
  it('is told by `check`, `status` and `kind list`, and does not keep the others from being served', async () => {
    await stored().insertMany([
      { name: 'Order', collection: 'orders' },
      { name: 'price', collection: 'products' },
      { name: 'invoice', collection: 'invoices' },
    ]);
    await eventually(async () => (await app.get('invoice/max')).status === 200);
    const checked = await commands.run('check');
    expect(checked).toMatchObject({ code: 1, errors: ['Failed: kinds.'] });
    expect(checked.output).toMatch(/^Kinds +failed: 2 kinds are not served$/m);
    expect(checked.output).toContain(
      'The document of the kind "Order" cannot be used: name must begin with a lower-case letter',
    );
    expect(checked.output).toContain(
      'The document of the kind "price" cannot be used: collection "products" is the collection of the kind "product"',
    );
    const { output } = await commands.run('status');
    expect(output).toMatch(/^Kinds +member, product, invoice$/m);
    expect(output).toMatch(/^ +Order not valid: name must begin/m);
    expect((await commands.run('kind list')).output).toMatch(/^price +products +not valid: collection/m);
    expect((await commands.run('kind remove --name Order')).code).toBe(0);
  });
});

describe('An application with a kind of its own', () => {
  it('is not removed before the kind, and never with its records', async () => {
    // No other test reads this kind: a kind that consumers have read is not removed.
    const own = await service.application({ organizationid: 'acme', appid: 'own' });
    // One that looks as if it named an application.
    await service.db.collection('bills').insertMany([{ number: 1 }, { number: 2, ...own.tenant }]);
    const kind = { name: 'bill', collection: 'bills', id: 'number', ...own.tenant };
    expect((await create(kind)).status).toBe(201);
    const path = 'applications/acme/own?purge=true';
    const refused = expectProblem(await admin('DELETE', path), 409, 'in-use');
    expect(refused.detail).toBe('All records of the kind "bill" belong to acme/own. Remove the kind first.');
    expect(await commands.failure('application remove --org acme --app own --purge')).toBe(refused.detail);
    expect(await service.db.collection('bills').countDocuments()).toBe(2);
    expect((await admin('DELETE', 'kinds/bill')).status).toBe(200);
    expect((await admin('DELETE', path)).status).toBe(200);
    expect(await service.db.collection('bills').countDocuments()).toBe(2);
  });
});
