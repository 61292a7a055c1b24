import { mongo } from 'mongoose';
import type { Status } from '../../src/administration/index.js';
import { expectProblem, send, type TestApplication, TestService } from '../support/index.js';
import { AdminConsole } from './admin-console.js';
import { rawDocument } from './raw-document.js';
import { insertRaw } from './raw-insert.js';

let service: TestService;
let app: TestApplication;
let admin: AdminConsole;

beforeAll(async () => {
  service = await TestService.shared();
  admin = new AdminConsole(service.uri);
});
beforeEach(async () => {
  app = await service.application();
});

const applications = () => service.db.collection('applications');
const credentials = () => service.db.collection('credentials');
const ALL = [{ organizationid: '*', appid: '*' }];

describe('a document whose names are of another type opens nothing', () => {
  it.each<[string, (tenant: TestApplication['tenant']) => mongo.Document]>([
    ['an organization', ({ organizationid }) => ({ organizationid: [organizationid, 'other'] })],
    ['an application', ({ appid }) => ({ appid: [appid, 'other'] })],
  ])('%s that is a list is not found under any of its names', async (_name, listOf) => {
    const everywhere = await app.credential({ scopes: ALL, level: 'write' });
    await applications().updateOne(app.tenant, { $set: listOf(app.tenant) });
    await service.heard();
    expectProblem(await app.get('product/max', { user: everywhere }), 404, 'unknown-application');
    const body = { accountnumber: '1', email: `${app.appid}@example.com` };
    const posted = await app.send('POST', 'api/v0.1/member', { user: everywhere, body });
    expectProblem(posted, 404, 'unknown-application');
    expect(await service.db.collection('members').countDocuments({ 'data.email': body.email })).toBe(0);
  });

  it('a list of user names opens nothing under any of them', async () => {
    const user = await app.credential();
    expect((await app.get('product/max', { user })).status).toBe(200);
    await credentials().updateOne({ username: user }, { $set: { username: [user, `${user}2`] } });
    await service.heard();
    for (const name of [user, `${user}2`])
      expectProblem(await app.get('product/max', { user: name }), 401, 'unauthorized');
  });

  it.each([0, '', NaN, 'false', 'no', [], {}])('disabled: %j is disabled', async (disabled) => {
    const user = await app.credential({ disabled });
    expectProblem(await app.get('product/max', { user }), 401, 'unauthorized');
  });

  it.each([
    ['*'],
    [{ organizationid: '*' }],
    [{ organizationid: ['*'], appid: '*' }],
    [{ organizationid: '*', appid: ['*'] }],
    [[{ organizationid: '*', appid: '*' }]],
    [null],
  ])('the scope %j opens nothing, and the one beside it what it says', async (scope) => {
    expectProblem(
      await app.get('product/max', { user: await app.credential({ scopes: [scope] }) }),
      404,
      'unknown-application',
    );
    const user = await app.credential({ scopes: [scope, app.tenant] });
    expect((await app.get('product/max', { user })).status).toBe(200);
  });
});

describe('the commands show such documents, and change no other by them', () => {
  it('application list', async () => {
    await applications().insertMany([
      { organizationid: ['listed', 'twice'], appid: 'a' },
      { organizationid: 'acme', appid: 5, title: { en: 'Shop' }, settings: null },
      { title: 'nameless' },
    ]);
    const { code, output } = await admin.run('application list');
    expect(code).toBe(0);
    expect(output).toMatch(/^\["listed","twice"\] +a +opens nothing: its names are not valid$/m);
    expect(output).toMatch(/^acme +5 +\{"en":"Shop"\} +opens nothing/m);
    expect(await admin.json<unknown[]>('application list')).toContainEqual({
      title: 'nameless',
      state: 'opens nothing: its names are not valid',
    });
    expect(await admin.failure('application remove --org listed --app a')).toContain(
      'There is no application',
    );
  });

  it('credential list', async () => {
    await credentials().insertMany([
      { username: ['ann', 'bob'], level: 'read', scopes: [null, { organizationid: 5 }] },
      { username: 'odd', level: 'owner', scopes: 'all', passwordhash: '$argon2id$' },
      { username: 'text', level: 'read', expiresAt: '2999-01-01' },
      { username: 'zero', level: 'read', disabled: 0 },
    ]);
    const { code, output } = await admin.run('credential list');
    expect(code).toBe(0);
    expect(output).toMatch(/^\["ann","bob"\] +read +\/ 5\/ +opens nothing: a field is of the wrong type$/m);
    expect(output).toMatch(/^odd +owner +opens nothing/m);
    expect(output).toMatch(/^text +read +opens nothing/m);
    expect(output).toMatch(/^zero +read +disabled$/m);
    expect(output).not.toContain('argon2');
    expect(await admin.failure('credential rotate --username ann')).toContain('There is no credential "ann"');
    expect(await admin.failure('credential revoke --username bob')).toContain('There is no credential "bob"');
  });

  it('service list, and set beside one of a list of names', async () => {
    const kind = 'product';
    await service.db.collection('services').insertMany([
      { ...app.tenant, kind, name: ['x', 'y'], filter: { a: 1 } },
      { ...app.tenant, kind, name: 'max', filter: {} },
      { ...app.tenant, kind, name: 'text-false', filter: {}, enabled: 'false' },
      { ...app.tenant, kind, name: 'huge', filter: { a: 'x'.repeat(1_000_000) } },
      { ...app.tenant, kind, name: 'none' },
      { ...app.tenant, kind: 7, name: 'kind' },
      { ...app.tenant, kind, name: 'default', enabled: 'false' },
      { ...app.tenant, kind: 'member', name: 'default', enabled: false },
    ]);
    const words = `--org ${app.organizationid} --app ${app.appid}`;
    const { code, output } = await admin.run(`service list ${words}`);
    expect(code).toBe(0);
    const states = output.split('\n').map((line) => line.split(/ {2,}/).slice(2, 5));
    expect(states).toEqual([
      ['KIND', 'NAME', 'STATE'],
      ['7', 'kind', 'not served: its names are not valid'],
      ['member', 'default', 'off'],
      ['product', 'default', 'not valid'],
      ['product', 'huge', 'not valid'],
      ['product', 'max', 'not served: its names are not valid'],
      ['product', 'none', 'not valid'],
      ['product', 'text-false', 'off'],
      ['product', '["x","y"]', 'not served: its names are not valid'],
    ]);
    expect(output.length).toBeLessThan(20_000);
    await service.heard();
    expectProblem(await app.feed('product').ask(), 500, 'service-misconfigured');
    const { faultyFilters } = await admin.json<Status>('status');
    const ofDefault = faultyFilters.first.filter(({ service: name }) => name.includes('"default"'));
    expect(ofDefault).toEqual([
      {
        service: `product service "default" of ${app.organizationid}/${app.appid}`,
        detail: '/enabled is not true or false.',
        isServed: false,
      },
    ]);
    expect(await admin.failure(`service preview ${words} --kind product --name huge`)).toContain(
      'The stored filter is not valid. The filter takes 1000013 bytes; it must be smaller than 65536 (64 KiB).',
    );
    expect(await admin.failure(`service remove ${words} --kind product --name x`)).toContain(
      'There is no product',
    );
    for (const filter of ['{"a":2}', '{"a":3}']) {
      const set = `service set ${words} --kind product --name z --filter ${filter}`;
      expect((await admin.run(set)).code).toBe(0);
    }
    const stored = await service.db
      .collection('services')
      .find({ ...app.tenant, name: 'z' })
      .toArray();
    expect(stored).toMatchObject([{ ...app.tenant, kind, name: 'z', filter: { a: 3 } }]);
  });
});

describe('a document with odd values keeps no other from being listed, and is changed and removed', () => {
  /** A document with a field by which the driver knows its own classes. */
  const typed = Buffer.from('\x19\0\0\0\x02_bsontype\0\x05\0\0\0Long\0\0', 'latin1');
  /** The same for a language: it has no text. */
  const textless = rawDocument([['toString', 1]]);
  /** A document with a regular expression with an option that the driver refuses. */
  const refused = Buffer.from('\x0c\0\0\0\x0b0\0x\0g\0\0', 'latin1');

  const odd = { odd: true, typed, refused, textless };
  const put = (collection: string, document: object) => {
    const fields = Object.entries({ _id: new mongo.ObjectId(), ...odd, ...document });
    return insertRaw(service.uri, collection, rawDocument([...fields, ['twice', 1], ['twice', 2]]));
  };
  const ask = async (method: string, path: string, body?: object) => {
    const user = await app.credential({ scopes: ALL, level: 'admin' });
    return send(`${service.url}/admin/v1/${path}`, method, { user, ...(body && { body }) });
  };
  const resultOf = async (path: string) => ((await ask('GET', path)).json as { result: object[] }).result;
  const expectConfiguration = async (left: string) => {
    const { status, json } = await ask('GET', 'configuration');
    expect([status, json]).toMatchObject([
      200,
      { leftOut: expect.arrayContaining([expect.stringContaining(left)]) as string[] },
    ]);
  };

  afterEach(async () => {
    for (const name of ['applications', 'services', 'credentials', 'kinds'])
      await service.db.collection(name).deleteMany({ odd: true });
  });

  it('an application', async () => {
    const { organizationid } = app;
    const own = { organizationid, appid: 'odd' };
    await put('applications', { ...own, title: typed });
    await put('applications', { organizationid: textless, appid: 'nameless' });
    await service.heard();
    expect(await resultOf('applications')).toContainEqual(app.tenant);
    expect(await resultOf('applications')).toContainEqual({ ...own, title: { _bsontype: 'Long' } });
    await expectConfiguration('application [object Object]/nameless: organizationid is not a string');
    const user = await app.credential({ scopes: [own] });
    expect(
      (await send(`${service.url}/${organizationid}/odd/api/v1/product/max`, 'GET', { user })).status,
    ).toBe(200);
    const path = `applications/${organizationid}/odd`;
    expect(await ask('PATCH', path, { title: 'Odd' })).toMatchObject({ status: 200, json: { title: 'Odd' } });
    expect((await ask('DELETE', path)).status).toBe(200);
    expect(await applications().countDocuments(own)).toBe(0);
  });

  it('a service', async () => {
    const path = `applications/${app.organizationid}/${app.appid}/services`;
    await put('services', { ...app.tenant, kind: textless, name: textless });
    const own = { ...app.tenant, kind: 'product', name: 'odd' };
    await put('services', { ...own, filter: rawDocument([['data', typed]]), description: typed });
    const filter = { data: { _bsontype: 'Long' } };
    expect(await resultOf(path)).toMatchObject([{}, { name: 'odd', filter }]);
    expect((await ask('GET', `${path}/product/odd`)).json).toMatchObject({ filter });
    await expectConfiguration(
      `[object Object] service "[object Object]" of ${app.organizationid}/${app.appid}: kind is not a string`,
    );
    for (const body of [{ filter: {} }, { filter: {}, fields: { only: ['data.n'] } }])
      expect((await ask('PUT', `${path}/product/odd`, body)).status).toBe(200);
    expect((await ask('DELETE', `${path}/product/odd`)).status).toBe(204);
    expect(await service.db.collection('services').countDocuments(own)).toBe(0);
  });

  it('a credential', async () => {
    const { passwordhash } = (await credentials().findOne({ username: app.user('read') }))!;
    const [username, scopes] = [`odd-${app.appid}`, [app.tenant]];
    await put('credentials', { username, level: 'read', scopes, passwordhash: passwordhash as string });
    await put('credentials', { username: textless, level: typed, scopes: typed, expiresAt: refused });
    expect((await app.get('product/max', { user: username })).status).toBe(200);
    const usernames = (await resultOf('credentials')).map((one) => (one as { username: unknown }).username);
    expect(usernames).toEqual(expect.arrayContaining([username, app.user('read'), { toString: 1 }]));
    await expectConfiguration('credential "[object Object]": username is not a string');
    expect((await ask('PATCH', `credentials/${username}`, { level: 'write' })).status).toBe(200);
    expect((await ask('POST', `credentials/${username}/rotate`)).status).toBe(200);
    expect((await ask('DELETE', `credentials/${username}`)).status).toBe(204);
    expect(await credentials().countDocuments({ username })).toBe(0);
  });

  it('a kind', async () => {
    await put('kinds', { _id: textless, name: textless, collection: textless });
    await put('kinds', { name: 'odd', collection: textless });
    expect((await resultOf('kinds')).slice(2)).toMatchObject([
      { name: { toString: 1 }, state: 'not valid' },
      { name: 'odd', state: 'not valid' },
    ]);
    expect((await ask('DELETE', 'kinds/odd')).status).toBe(200);
  });
});
