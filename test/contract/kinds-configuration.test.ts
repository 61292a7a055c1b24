import { ConsumerNotes } from '../../src/replication/feed/index.js';
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
  root = await app.credential({
    ...{ username: 'root', level: 'admin', scopes: [{ organizationid: '*', appid: '*' }] },
  });
  commands = new AdminConsole(service.uri);
});
afterAll(() => service?.stop());
afterEach(async () => {
  await service.db.collection('kinds').deleteMany({});
  await service.db.collection('services').deleteMany({});
  await service.db.collection('tidemark.consumers').deleteMany({});
});

const stored = () => service.db.collection('kinds');
const admin = (path: string, body: object, options: SendOptions = {}): Promise<Answer> =>
  send(`${service.url}/admin/v1/configuration/${path}`, 'POST', { user: root, body, ...options });
const ORDER = { name: 'order', collection: 'orders' };
const LARGE = { kind: 'order', name: 'large', filter: { 'data.n': { $gt: 1 } } };
const SHOP = { organizationid: 'acme', appid: 'shop' };

/** A command with a file on stdin. */
const typed = (command: string, file: object) => commands.run(command, { input: JSON.stringify(file) });
const failureOf = async (file: object, command = 'config plan -') => (await typed(command, file)).errors;

/** Also those whose notes are not written yet. */
async function forgetConsumers(): Promise<void> {
  await service.app.get(ConsumerNotes, { strict: false }).flush();
  await service.db.collection('tidemark.consumers').deleteMany({});
}

describe('A configuration with kinds', () => {
  it('creates a kind with a service of it, at once; exported, it changes nothing', async () => {
    await service.db.collection('orders').insertMany([
      { ...SHOP, id: 'o1', data: { n: 1 } },
      { ...SHOP, id: 'o2', data: { n: 2 } },
    ]);
    const file = { kinds: [{ ...ORDER, channels: false }], applications: [{ ...SHOP, services: [LARGE] }] };
    expect((await typed('config plan -', file)).output.split('\n').slice(0, 3)).toEqual([
      ...['+ kind "order"', '+ order service "large" of acme/shop', '2 changes: 2 to create.'],
    ]);
    expect(await stored().countDocuments()).toBe(0);
    const applied = await admin('apply', file);
    expect(applied.json).toMatchObject({
      changes: [
        { action: 'create', what: 'kind', name: 'order' },
        { action: 'create', what: 'service', name: 'large' },
      ],
    });
    expect([200, 503]).toContain((await app.get('order/max')).status);
    await eventually(async () => (await app.get('order/max')).status === 200);
    expect((await app.feed('order', 'large').drain()).map(({ id }) => id)).toEqual(['o2']);
    const { output } = await commands.run('config export');
    expect(output).toMatch(/^kinds:\n {2}- name: order\n {4}collection: orders\napplications:$/m);
    expect((await commands.run('config plan -', { input: output })).output).toBe('Nothing changes.');
    const shown = await send(`${service.url}/admin/v1/configuration`, 'GET', { user: root });
    expect(shown.json).toMatchObject({ kinds: [ORDER] });
  });

  it('an edit of a kind is refused, with the line', async () => {
    await stored().insertOne({ ...ORDER });
    const file = { kinds: [{ ...ORDER, collection: 'others', id: 'number' }] };
    const said =
      'Line 1: /kinds/0 differs from the stored kind in collection, id. A kind is not edited: remove it and create it again.';
    expect(await failureOf(file)).toEqual([said]);
    expect(await failureOf(file, 'config apply --yes -')).toEqual([said]);
    expectProblem(await admin('apply', file), 400, 'invalid-request');
    expect(await stored().countDocuments(ORDER)).toBe(1);
  });

  it.each([
    ['its collection', { collection: 'products' }],
    ['its id', { id: 'a.b' }],
  ])('a kind with the name of a stored one that is not valid for %s is refused', async (_why, wrong) => {
    await stored().insertOne({ ...ORDER, ...wrong });
    const said =
      'Line 1: /kinds/0/name "order" is the name of a stored kind whose document is not valid. Remove that kind first.';
    expect(await failureOf({ kinds: [ORDER] }, 'config apply --yes -')).toEqual([said]);
  });

  it.each<[string, object]>([
    ['/kinds/0/name must begin with a lower-case', { kinds: [{ ...ORDER, name: 'Order' }] }],
    ['/kinds/0/collection "members" is the collection', { kinds: [{ ...ORDER, collection: 'members' }] }],
    ['/kinds/0/id must name a field', { kinds: [{ ...ORDER, id: 'a.b' }] }],
    ['/kinds/1 is a second entry for the kind "order"', { kinds: [ORDER, ORDER] }],
    [
      '/kinds/1/collection "orders" is already used by the kind "order"',
      { kinds: [ORDER, { ...ORDER, name: 'other' }] },
    ],
    [
      '/kinds/0/organizationid names no application: there is no no/where',
      { kinds: [{ ...ORDER, organizationid: 'no', appid: 'where' }] },
    ],
    ['/kinds/0/collection "unfit" is a view', { kinds: [{ ...ORDER, collection: 'unfit' }] }],
    [
      '/applications/0/services/0/kind is not one of member, product',
      { applications: [{ ...SHOP, services: [{ ...LARGE, kind: 'purchase' }] }] },
    ],
    [
      '/applications/0/services/0/filter MongoDB refuses the filter',
      {
        kinds: [ORDER],
        applications: [{ ...SHOP, services: [{ ...LARGE, filter: { a: { $regex: '(' } } }] }],
      },
    ],
  ])('is refused with its place: %s', async (said, file) => {
    await service.db.createCollection('unfit', { viewOn: 'orders' });
    for (const command of ['config plan -', 'config apply --yes -'])
      expect(await failureOf(file, command)).toEqual([expect.stringContaining(said)]);
    const [pointer] = said.split(' ');
    const { errors } = expectProblem(await admin('apply', file), 400, 'invalid-request');
    expect(errors).toContainEqual(expect.objectContaining({ pointer }));
    await service.db.dropCollection('unfit');
    expect(await stored().countDocuments()).toBe(0);
    expect(await service.db.collection('services').countDocuments()).toBe(0);
  });

  it('with --prune it removes a kind that it lacks, with its services; not one that consumers have read', async () => {
    await stored().insertOne({ ...ORDER });
    await service.db.collection('services').insertOne({ ...SHOP, ...LARGE });
    await eventually(async () => (await app.get('order/max')).status === 200);
    const indexes = () => service.db.collection('orders').indexes();
    expect((await indexes()).length).toBeGreaterThan(1);
    const { applications, credentials } = JSON.parse(
      (await commands.run('config export --json')).output,
    ) as Record<string, object[]>;
    const file = { applications: applications!.map((one) => ({ ...one, services: [] })), credentials };
    await service.db.collection<object>('tidemark.consumers').insertOne({
      _id: { ...SHOP, username: 'reader', kind: 'order', service: 'large' },
    } as object);
    expect(await failureOf(file, 'config plan --prune -')).toEqual([
      'The kind "order" still has consumers. Remove the kind separately with --purge.',
    ]);
    await forgetConsumers();
    const kept = { ...file, applications };
    expect(await failureOf(kept, 'config plan --prune -')).toEqual([
      expect.stringMatching(/^Line 1: .*\/kind is not one of member, product\.$/),
    ]);
    const { output } = await typed('config apply --prune --yes -', file);
    expect(output).toContain('2 removed');
    expect(await stored().countDocuments()).toBe(0);
    expect(await service.db.collection('services').countDocuments()).toBe(0);
    expect((await indexes()).map(({ name }) => name)).toEqual(['_id_']);
  });

  it('gives the collection of a kind that it removes to one that it creates, with the indexes', async () => {
    await stored().insertOne({ ...ORDER });
    await eventually(async () => (await app.get('order/max')).status === 200);
    await forgetConsumers();
    const before = JSON.parse((await commands.run('config export --json')).output) as { kinds: object[] };
    const renamed = { ...before, kinds: [{ ...ORDER, name: 'purchase' }] };
    const { output, errors } = await typed('config apply --prune --yes -', renamed);
    expect(output).toContain('1 removed');
    expect(errors.at(-1)).toBe('2 changes: 1 to create, 1 to remove.');
    expect(await stored().distinct('name')).toEqual(['purchase']);
    await eventually(async () => (await app.get('purchase/max')).status === 200);
    expect((await service.db.collection('orders').indexes()).length).toBeGreaterThan(1);
  });

  it('drops the indexes of a kind that it removes, and keeps those that the new kind needs too', async () => {
    const parcels = service.db.collection('parcels');
    await parcels.insertOne({ ...SHOP, id: 'p1', number: 'n1', lastupdated: new Date() });
    const PARCEL = { name: 'parcel', collection: 'parcels' };
    await stored().insertOne({ ...PARCEL });
    await eventually(async () => (await app.get('parcel/max')).status === 200);
    await forgetConsumers();
    /** The names of the service's indexes, with the times since when they exist. */
    const indexes = async () => {
      const all = parcels.aggregate<{ name: string; accesses: { since: Date } }>([{ $indexStats: {} }]);
      return new Map((await all.toArray()).map(({ name, accesses: { since } }) => [name, since.getTime()]));
    };
    const before = await indexes();
    const BY_STAMP = 'tidemark_organizationid_appid_lastupdated__id';
    expect([...before.keys()]).toEqual(
      expect.arrayContaining([BY_STAMP, 'tidemark_organizationid_appid_id']),
    );
    const file = JSON.parse((await commands.run('config export --json')).output) as { kinds: object[] };
    const renamed = { ...file, kinds: [{ ...PARCEL, name: 'package', id: 'number' }] };
    expect((await typed('config apply --prune --yes -', renamed)).code).toBe(0);
    await eventually(async () => (await app.get('package/max')).status === 200);
    const after = await indexes();
    expect([...after.keys()].sort()).toEqual(
      [
        '_id_',
        ...['_id', 'lastupdated__id', 'number'].map((name) => `tidemark_organizationid_appid_${name}`),
      ].sort(),
    );
    expect(after.get(BY_STAMP)).toBe(before.get(BY_STAMP));
  });

  it('keeps an application while a kind is fixed to it, and creates both together', async () => {
    const own = { organizationid: 'acme', appid: 'own' };
    const { applications, credentials } = JSON.parse(
      (await commands.run('config export --json')).output,
    ) as Record<string, object[]>;
    const before = { applications, credentials };
    const kinds = [{ ...ORDER, ...own }];
    const file = { kinds, applications: [...applications!, own], credentials };
    expect((await typed('config apply --yes -', file)).code).toBe(0);
    expect(await failureOf({ kinds, ...before }, 'config apply --prune --yes -')).toEqual([
      'All records of the kind "order" belong to acme/own. Remove the kind first.',
    ]);
    expect((await typed('config apply --prune --yes -', before)).output).toContain('2 removed');
  });

  it('is for those who cover every application, as a whole', async () => {
    const scopes = [{ organizationid: 'acme', appid: '*' }];
    const owner = await app.credential({ level: 'admin', scopes });
    expectProblem(await admin('plan', { kinds: [ORDER] }, { user: owner }), 403, 'out-of-scope');
    await stored().insertOne({ ...ORDER });
    const shown = await send(`${service.url}/admin/v1/configuration`, 'GET', { user: owner });
    expect(shown.text).not.toContain('kinds');
    expect(await failureOf({ kinds: [ORDER] }, 'config plan --org acme --app shop -')).toEqual([
      'Line 1: /kinds apply to all applications. Omit them, or do not restrict the request to one application.',
    ]);
    expect((await commands.run('config export --org acme --app shop')).output).not.toContain('kinds:');
    await service.db.collection('credentials').deleteOne({ username: owner });
  });
});
