import { type Answer, send, type SendOptions, type TestApplication, TestService } from '../support/index.js';

let service: TestService;
let app: TestApplication;

beforeAll(async () => {
  // It applies the whole configuration.
  service = await TestService.start();
  app = await service.application();
  await app.products(20, (index) => ({ id: `p${index}`, data: { n: index } }));
  await app.filter('product', 'low', { 'data.n': { $lt: 10 } });
  await app.filter('member', 'dated', { createDate: { $gt: new Date('2026-01-01') } }, { description: 'x' });
  await service.watcher.caughtUp();
});
afterAll(() => service?.stop());

interface Wanted {
  applications: { organizationid: string; appid: string; title?: string; services: object[] }[];
  credentials: { username: string; level: string; scopes: object[]; disabled?: boolean }[];
}

const mine = ({ applications }: Wanted) => applications.find(({ appid }) => appid === app.appid)!;
const everything = () =>
  Promise.all(
    ['applications', 'services', 'credentials'].map((name) =>
      service.db
        .collection(name)
        .find({}, { sort: { _id: 1 } })
        .toArray(),
    ),
  );

describe('/admin/v1/configuration', () => {
  let root: string;
  let owner: string;
  const ask = (method: string, path: string, options: SendOptions = {}): Promise<Answer> =>
    send(`${service.url}/admin/v1/configuration${path}`, method, { user: root, ...options });

  beforeAll(async () => {
    root = await app.credential({ level: 'admin', scopes: [{ organizationid: '*', appid: '*' }] });
    const scopes = [{ organizationid: app.organizationid, appid: '*' }];
    owner = await app.credential({ level: 'admin', scopes });
    await service.heard();
  });

  const known = async (user = root) => {
    const { json, headers } = await ask('GET', '', { user });
    return { wanted: json as Wanted, tag: headers.get('etag')! };
  };
  const body = ({ applications, credentials }: Wanted, more: object = {}) => ({
    ...{ applications, credentials, ...more },
  });

  it('shows, plans and applies, with the entity tag of what stands', async () => {
    const { wanted, tag } = await known();
    mine(wanted).title = 'By HTTP';
    Object.assign(mine(wanted).services[1]!, { filter: { 'data.n': 1 } });
    wanted.credentials.push({ username: 'by-http', level: 'read', scopes: [app.tenant] });
    const plan = await ask('POST', '/plan', { body: body(wanted) });
    expect(plan.headers.get('etag')).toBe(tag);
    expect(plan.json).toMatchObject({
      changes: [
        { action: 'change', what: 'application', ...app.tenant, changed: ['title'] },
        { action: 'change', what: 'service', changed: ['filter'], preview: { matching: { count: 1 } } },
        { action: 'create', what: 'credential', username: 'by-http' },
      ],
    });
    const headers = { 'if-match': tag };
    const applied = await ask('POST', '/apply', { body: body(wanted), headers });
    expect(applied).toMatchObject({
      status: 200,
      json: { passwords: { 'by-http': expect.any(String) as string } },
    });
    expect((await ask('POST', '/apply', { body: body(wanted), headers })).status).toBe(412);
    expect((await ask('POST', '/plan', { body: body((await known()).wanted) })).json).toEqual({
      ...{ changes: [], untold: [] },
    });
  });

  it('takes what it has answered, with `leftOut`', async () => {
    await service.db.collection('applications').insertOne({ ...app.tenant, appid: 'not valid' });
    const { wanted } = await known();
    expect(wanted).toMatchObject({ leftOut: [expect.stringContaining('not valid')] });
    const planned = await ask('POST', '/plan', { body: wanted });
    expect(planned).toMatchObject({ status: 200, json: { changes: [] } });
    const applied = await ask('POST', '/apply', { body: wanted });
    expect(applied).toMatchObject({ status: 200, json: { changes: [] } });
    await service.db.collection('applications').deleteOne({ appid: 'not valid' });
  });

  it('a wrong one is a 400 that names the place, and nothing is stored', async () => {
    const { wanted } = await known();
    mine(wanted).title = 'Never';
    Object.assign(mine(wanted).services[0]!, { filter: { a: { $where: 1 } } });
    const before = await everything();
    for (const path of ['/plan', '/apply']) {
      const { status, json } = await ask('POST', path, { body: body(wanted) });
      expect(status).toBe(400);
      const { errors } = json as { errors: { pointer: string }[] };
      expect(errors[0]!.pointer).toMatch(/^\/applications\/\d+\/services\/0\/filter$/);
    }
    expect(await everything()).toEqual(before);
  });

  it('of two at the same moment, with the tag of the same one, one is applied', async () => {
    const { wanted, tag } = await known();
    const titles = ['one', 'two', 'three', 'four'];
    const answers = await Promise.all(
      titles.map((title) => {
        const changed = structuredClone(wanted);
        mine(changed).title = title;
        return ask('POST', '/apply', { body: body(changed), headers: { 'if-match': tag } });
      }),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412]);
  });

  it('an administrator of one organization sees, changes and removes nothing of another', async () => {
    const other = await service.application();
    await other.filter('product', 'theirs', { a: 1 });
    const { wanted } = await known(owner);
    const text = JSON.stringify(wanted);
    for (const theirs of [other.organizationid, other.user('read'), root]) expect(text).not.toContain(theirs);
    expect(text).toContain(app.user('read'));

    const before = await everything();
    const foreign = { ...body(wanted), applications: [{ ...other.tenant, title: 'mine' }] };
    expect((await ask('POST', '/apply', { user: owner, body: foreign })).status).toBe(404);
    const scopes = [{ organizationid: '*', appid: '*' }];
    const more = { credentials: [{ username: 'more', level: 'admin', scopes }] };
    expect((await ask('POST', '/apply', { user: owner, body: more })).status).toBe(403);
    const theirs = { credentials: [{ username: other.user('read'), level: 'read', scopes: [app.tenant] }] };
    for (const path of ['/plan', '/apply'])
      expect((await ask('POST', path, { user: owner, body: theirs })).status).toBe(409);
    expect(await everything()).toEqual(before);

    const pruned = await ask('POST', '/plan', { user: owner, body: { ...body(wanted), prune: true } });
    expect(pruned.json).toEqual({ changes: [], untold: [] });
    const nothing = await ask('POST', '/plan', { user: owner, body: { prune: true } });
    expect(nothing.text).not.toContain(other.organizationid);
  });

  it('makes fifty credentials at most at a time', async () => {
    const credentials = Array.from({ length: 51 }, (_, index) => ({
      ...{ username: `many-${index}`, level: 'read', scopes: [app.tenant] },
    }));
    expect((await ask('POST', '/apply', { body: { credentials } })).text).toContain(
      'at most 50 can be created at a time',
    );
    expect(await service.db.collection('credentials').countDocuments({ username: /^many-/ })).toBe(0);
  });

  it.each(['', '/plan', '/apply'])('%s needs level admin', async (path) => {
    const method = path === '' ? 'GET' : 'POST';
    const sent = path === '' ? {} : { body: {} };
    expect((await ask(method, path, { ...sent, user: null })).status).toBe(401);
    expect((await ask(method, path, { ...sent, user: app.user('write') })).status).toBe(403);
  });
});
