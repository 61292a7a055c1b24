import {
  expectProblem,
  FEED_PATHS,
  type Item,
  KINDS_AND_WARES,
  MAX_PATHS,
  pathFor,
  send,
  type TestApplication,
  TestService,
  WARE_PATHS,
} from '../support/index.js';

const T = Date.parse('2025-01-01T00:00:00.000Z');
const PATHS = [...FEED_PATHS, ...WARE_PATHS];

let service: TestService;
/** Neighbours on both sides: the first two share the organization, the first and the last the application's name. */
let tenants: TestApplication[];

/** The stamps of a tenant are its own, so that even a delete item tells whose it is. */
const stampOf = (index: number, minute: number) => new Date(T + index * 1000 + minute * 60_000);

/** The same ids in every tenant: one record in the filter and the channel, one outside, one that is gone. */
async function furnish(app: TestApplication, index: number): Promise<void> {
  const data = { owner: index, email: 'same@example.com' };
  for (const kind of KINDS_AND_WARES) {
    await app.filter(kind, 'erp', { 'data.source': 'erp' });
    const inside = { channels: ['web'], data: { ...data, source: 'erp' } };
    await app.put(kind, { id: 'inside', lastupdated: stampOf(index, 1), ...inside });
    await app.put(kind, { id: 'outside', lastupdated: stampOf(index, 2), data: { owner: index } });
  }
}

beforeAll(async () => {
  service = await TestService.withWares();
  const first = await service.application({ organizationid: 'acme', appid: 'shop' });
  const sister = await service.application({ organizationid: 'acme', appid: 'shop2' });
  const stranger = await service.application({ organizationid: 'acme2', appid: 'shop' });
  tenants = [first, sister, stranger];
  for (const [index, app] of tenants.entries()) await furnish(app, index);
});
afterAll(() => service.stop());

async function itemsOf(app: TestApplication, path: string): Promise<Item[]> {
  const answer = await app.get(path, { query: { to: '9999-01-01' } });
  return (answer.json as { result: Item[] }).result;
}

/** Whose an item is, by its stamp. */
const ownerOf = ({ lastupdated, lastUpdated }: Item) =>
  (Date.parse(lastupdated ?? lastUpdated ?? '') % 60_000) / 1000;

describe('two tenants that never see each other, with the same ids in both', () => {
  const services = ['default', 'erp'];
  const paths = PATHS.filter((path) => !path.includes('harddeletes')).flatMap((path) =>
    path.includes('{service}') ? services.map((name) => pathFor(path, { service: name })) : [pathFor(path)],
  );

  it.each(paths)('%s', async (path) => {
    for (const [index, app] of tenants.entries()) {
      const items = await itemsOf(app, path);
      const ids = path.includes('softdeletes')
        ? ['outside']
        : ['inside', ...(path.includes('default') ? ['outside'] : [])];
      expect(items.map((item) => item.id)).toEqual(path.includes('default/soft') ? [] : ids);
      expect(items.map(ownerOf)).toEqual(items.map(() => index));
      for (const { data } of items) expect(data?.['owner'] ?? index).toBe(index);
    }
  });

  it.each([...MAX_PATHS, 'ware/max'])('%s', async (path) => {
    const offsets = await Promise.all(
      tenants.map(async (app) => (await app.get(path)).json as { offset: string }),
    );
    expect(offsets.map(({ offset }) => offset)).toEqual(
      tenants.map((_app, index) => stampOf(index, 2).toISOString()),
    );
  });

  it.each(KINDS_AND_WARES)('the cursor of one opens nothing of the other: %s', async (kind) => {
    const [first, sister] = tenants as [TestApplication, TestApplication];
    const { nextoffsetid } = await first.feed(kind).page({ limit: 1 });
    const to = await sister.max(kind);
    const behind = await sister.feed(kind).page({ to, lastoffsetid: nextoffsetid });
    expect(behind.items.map(ownerOf)).toEqual([1, 1]);
  });
});

describe('what one tenant does is nothing to the other', () => {
  it.each(KINDS_AND_WARES)('harddeletes and max: %s', async (kind) => {
    const [first, ...others] = tenants as [TestApplication, ...TestApplication[]];
    const before = await Promise.all(others.map((app) => app.max(kind)));
    await first.remove(kind, await first.put(kind, { id: 'gone', lastupdated: stampOf(0, 0) }));
    expect((await first.hardDeletes(kind).page()).ids).toEqual(['gone']);
    for (const app of others) expect((await app.hardDeletes(kind).page()).ids).toEqual([]);
    expect(await Promise.all(others.map((app) => app.max(kind)))).toEqual(before);
  });

  it('services', async () => {
    const [first, ...others] = tenants as [TestApplication, ...TestApplication[]];
    for (const kind of KINDS_AND_WARES) {
      await first.filter(kind, 'own', {});
      expect((await first.feed(kind, 'own').ask()).status).toBe(200);
      for (const app of others) expectProblem(await app.feed(kind, 'own').ask(), 404, 'unknown-service');
    }
  });

  it('channels', async () => {
    const [first, ...others] = tenants as [TestApplication, ...TestApplication[]];
    const product = await first.product({ channels: ['own'] });
    expect((await first.channel('own').ask()).status).toBe(200);
    await service.watcher.caughtUp();
    for (const app of others) expectProblem(await app.channel('own').ask(), 404, 'unknown-channel');
    await first.remove('product', product);
  });

  it('settings', async () => {
    const [first, sister] = tenants as [TestApplication, TestApplication];
    const open = { $set: { 'settings.replicatepasswordhash': true } };
    await service.db.collection('applications').updateOne(first.tenant, open);
    await service.heard();
    for (const app of [first, sister]) await app.member({ id: 'secret', data: { passwordhash: 'hash' } });
    expect((await first.feed('member').page()).answer.text).toContain('passwordhash');
    expect((await sister.feed('member').page()).answer.text).not.toContain('passwordhash');
  });

  it('writes of members', async () => {
    const [first, ...others] = tenants as [TestApplication, ...TestApplication[]];
    const records = service.db.collection('members');
    const theirs = () => records.find({ id: 'inside', $nor: [first.tenant] }).toArray();
    const before = await theirs();
    expect(before.length).toBe(others.length);
    const patch = await first.send('PATCH', 'api/v0.1/member/inside', { body: { contactname: 'Ann' } });
    const address = { body: { city: 'Ulm' } };
    const move = await first.send('PATCH', 'api/v0.1/member/inside/address', address);
    expect([patch.status, move.status]).toEqual([200, 200]);
    expect(await theirs()).toEqual(before);
    const read = await first.send('GET', 'api/v0.1/member/inside');
    expect((read.json as Item).data).toMatchObject({ owner: 0, contactname: 'Ann' });
  });

  it('e-mails: each tenant may have the same once', async () => {
    const [first, sister] = tenants as [TestApplication, TestApplication];
    const body = { accountnumber: '1', email: 'new@example.com' };
    expect((await first.send('POST', 'api/v0.1/member', { body })).status).toBe(201);
    expect((await sister.send('POST', 'api/v0.1/member', { body })).status).toBe(201);
    expect((await sister.send('POST', 'api/v0.1/member', { body })).status).toBe(409);
  });
});

describe('404 unknown application, and the same body where the credentials do not cover it', () => {
  const reads = [...PATHS, ...MAX_PATHS, 'ware/max'].map((path): [string, string] => [
    'GET',
    `api/v1/${pathFor(path)}`,
  ]);
  const writes: [string, string][] = [
    ['POST', 'api/v0.1/member'],
    ['GET', 'api/v0.1/member/inside'],
    ['PATCH', 'api/v0.1/member/inside'],
    ['PATCH', 'api/v0.1/member/inside/address'],
  ];

  it.each([...reads, ...writes])('%s %s', async (method, path) => {
    const [first, ...others] = tenants as [TestApplication, ...TestApplication[]];
    const body = method === 'GET' ? {} : { body: {} };
    const options = { user: first.user('admin'), query: { to: '9999-01-01' }, ...body };
    const nowhere = await send(`${service.url}/acme/nobody/${path}`, method, options);
    const unknown = expectProblem(nowhere, 404, 'unknown-application');
    for (const app of others) {
      const foreign = expectProblem(await app.send(method, path, options), 404, 'unknown-application');
      expect({ ...foreign, requestId: '' }).toEqual({ ...unknown, requestId: '' });
    }
    expect((await first.send(method, path, options)).status).not.toBe(404);
  });
});
