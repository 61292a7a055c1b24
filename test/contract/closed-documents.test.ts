import type { mongo } from 'mongoose';
import { expectProblem, type TestApplication, TestService } from '../support/index.js';
import { AdminConsole } from './admin-console.js';

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
    ]);
    const words = `--org ${app.organizationid} --app ${app.appid}`;
    const { code, output } = await admin.run(`service list ${words}`);
    expect(code).toBe(0);
    const states = output.split('\n').map((line) => line.split(/ {2,}/).slice(2, 5));
    expect(states).toEqual([
      ['KIND', 'NAME', 'STATE'],
      ['7', 'kind', 'not served: its names are not valid'],
      ['product', 'huge', 'not valid'],
      ['product', 'max', 'not served: its names are not valid'],
      ['product', 'none', 'not valid'],
      ['product', 'text-false', 'off'],
      ['product', '["x","y"]', 'not served: its names are not valid'],
    ]);
    expect(output.length).toBeLessThan(20_000);
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
