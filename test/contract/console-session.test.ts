import { PASSWORD, send, type SendOptions, type TestApplication, TestService } from '../support/index.js';
import { VERSION } from '../support/build.js';

let service: TestService;
let app: TestApplication;
let root: string;
let owner: string;

beforeAll(async () => {
  service = await TestService.shared();
  app = await service.application();
  root = await app.credential({ level: 'admin', scopes: [{ organizationid: '*', appid: '*' }] });
  owner = await app.credential({
    level: 'admin',
    scopes: [{ organizationid: app.organizationid, appid: '*' }],
  });
  await app.products(3);
  await service.watcher.caughtUp();
});

const session = (method: string, options: SendOptions = {}) =>
  send(`${service.url}/admin/v1/session`, method, options);
const login = (username: string, password = PASSWORD) =>
  session('POST', { body: { username, password }, headers: { 'tidemark-console': 'use' } });
const sessions = () => service.db.collection<{ _id: string; expires: Date }>('tidemark.sessions');

/** Signs in, and gives what the console sends with each request then. */
async function signedIn(username: string): Promise<Record<string, string>> {
  const { status, headers } = await login(username);
  expect(status).toBe(200);
  return { cookie: headers.getSetCookie()[0]!.split(';')[0]!, 'tidemark-console': 'use' };
}

const asked = (headers: Record<string, string>, path = 'admin/v1/applications', method = 'GET') =>
  send(`${service.url}/${path}`, method, { headers });

describe('A session of the console', () => {
  it('is a cookie that no script reads and no other site sends', async () => {
    const { json, headers } = await login(root);
    expect(json).toEqual({
      ...{ username: root, scopes: [{ organizationid: '*', appid: '*' }], coversAll: true },
      kinds: ['member', 'product'],
      fixedKinds: [],
      version: VERSION,
    });
    expect(headers.getSetCookie()[0]).toMatch(
      /^tidemark-session=[\w-]{43}; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Strict$/,
    );
  });

  it.each([
    ['/tidemark', '/tidemark/'],
    ['/a/b-c%20d', '/a/b-c%20d/'],
    ['', '/'],
    ['/a; Domain=example.com', '/'],
    ['relative', '/'],
    ['/a//b', '/'],
    [`/${'x'.repeat(600)}`, '/'],
  ])('below the path where the console found the service (%#)', async (place, path) => {
    const headers = { 'tidemark-console': 'use', 'tidemark-console-place': place };
    const cookieOf = (answer: { headers: Headers }) => answer.headers.getSetCookie()[0]!;
    const given = cookieOf(await session('POST', { body: { username: root, password: PASSWORD }, headers }));
    expect(given).toContain(`; Path=${path}; Expires=`);
    const cookie = given.split(';')[0]!;
    expect(cookieOf(await session('DELETE', { headers: { ...headers, cookie } }))).toContain(
      `; Path=${path};`,
    );
  });

  it('opens the administration API, and shows who it is', async () => {
    const headers = await signedIn(owner);
    const { status, json } = await asked(headers);
    expect(status).toBe(200);
    expect((json as { result: object[] }).result).toHaveLength(1);
    expect((await asked(headers, 'admin/v1/session')).json).toMatchObject({
      username: owner,
      coversAll: false,
    });
    const { json: trail } = await send(`${service.url}/admin/v1/audittrail`, 'GET', { user: root });
    expect(trail).toMatchObject({
      result: expect.arrayContaining([expect.objectContaining({ who: owner, action: 'session.open' })]),
    });
  });

  it('is stored by its digest only', async () => {
    const { cookie } = await signedIn(root);
    const stored = JSON.stringify(await sessions().find().toArray());
    expect(stored).not.toContain(cookie!.split('=')[1]);
    expect(stored).not.toContain('argon2');
  });

  it('opens nothing without the header that other sites cannot send', async () => {
    const { cookie } = await signedIn(root);
    const answer = await asked({ cookie: cookie! });
    expect(answer.status).toBe(401);
    expect(answer.headers.has('www-authenticate')).toBe(true);
  });

  it('is refused without making the browser ask for a password', async () => {
    for (const answer of [
      await login(root, 'wrong'),
      await login('nobody'),
      await asked({ 'tidemark-console': 'use' }),
      await asked({ 'tidemark-console': 'use', cookie: 'tidemark-session=x' }),
      await asked({ 'tidemark-console': 'use', cookie: `tidemark-session=${'x'.repeat(43)}` }),
    ]) {
      expect(answer.status).toBe(401);
      expect(answer.headers.has('www-authenticate')).toBe(false);
      expect(answer.headers.getSetCookie()).toEqual([]);
    }
  });

  it('is for administrators', async () => {
    expect(await login(app.user('write'))).toMatchObject({
      status: 403,
      json: { type: expect.stringMatching(/level-missing$/) },
    });
  });

  it.each([
    [
      'not JSON',
      { raw: 'username=a&password=b', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      415,
    ],
    ['no password', { body: { username: 'x' } }, 400],
    ['a password that is no text', { body: { username: 'x', password: { $ne: 1 } } }, 400],
  ] as [string, SendOptions, number][])('%s opens none', async (_name, options, status) => {
    expect((await session('POST', options)).status).toBe(status);
  });

  it('ends when it is signed out', async () => {
    const headers = await signedIn(root);
    const { status, headers: answered } = await session('DELETE', { headers });
    expect(status).toBe(204);
    expect(answered.getSetCookie()[0]).toMatch(/^tidemark-session=; Path=\/; Expires=Thu, 01 Jan 1970/);
    expect((await asked(headers)).status).toBe(401);
  });

  it('ends when nobody uses it; what a page asks of its own accord is no use', async () => {
    const headers = await signedIn(root);
    const soon = new Date(Date.now() + 60_000);
    await sessions().updateMany({}, { $set: { expires: soon } });
    expect((await asked({ ...headers, 'tidemark-console': 'poll' })).status).toBe(200);
    expect(await sessions().countDocuments({ expires: { $gt: soon } })).toBe(0);
    expect((await asked(headers)).status).toBe(200);
    expect(await sessions().countDocuments({ expires: { $gt: soon } })).toBe(1);
    await sessions().updateMany({}, { $set: { expires: new Date(Date.now() - 1) } });
    expect((await asked(headers)).status).toBe(401);
  });

  it.each<[string, (username: string) => object]>([
    ['disabled', () => ({ disabled: true })],
    ['expired', () => ({ expiresAt: new Date(0) })],
    ['given another password', () => ({ passwordhash: '$argon2id$v=19$m=19456,t=2,p=1$AAAA$AAAA' })],
  ])('ends when its credential is %s', async (_name, change) => {
    const user = await app.credential({ level: 'admin' });
    const headers = await signedIn(user);
    expect((await asked(headers)).status).toBe(200);
    await service.db.collection('credentials').updateOne({ username: user }, { $set: change(user) });
    await service.heard();
    expect((await asked(headers)).status).toBe(401);
  });

  it('is over once its credential was found disabled, also when that is enabled again', async () => {
    const user = await app.credential({ level: 'admin' });
    const headers = await signedIn(user);
    const set = async (disabled: boolean) => {
      await service.db.collection('credentials').updateOne({ username: user }, { $set: { disabled } });
      await service.heard();
      return (await asked(headers)).status;
    };
    expect(await set(true)).toBe(401);
    expect(await set(false)).toBe(401);
  });

  it('reads no more when its credential is no administrator any more', async () => {
    const user = await app.credential({ level: 'admin' });
    const headers = await signedIn(user);
    await service.db.collection('credentials').updateOne({ username: user }, { $set: { level: 'read' } });
    await service.heard();
    expect((await asked(headers)).status).toBe(403);
    const feed = `${app.organizationid}/${app.appid}/api/v1/product/max`;
    expect((await asked({ ...headers, 'tidemark-as': app.user('read') }, feed)).status).toBe(403);
  });
});

describe('The console reads a feed as a consumer would', () => {
  const feed = (other = app) => `${other.organizationid}/${other.appid}/api/v1/product/max`;

  it('with what that credential sees, and is no consumer itself', async () => {
    const headers = { ...(await signedIn(owner)), 'tidemark-as': app.user('read') };
    expect((await asked(headers, feed())).status).toBe(200);
    const to = (await app.max('product')).toISOString();
    const path = `${app.organizationid}/${app.appid}/api/v1/product/default/updates?to=${to}`;
    expect((await asked(headers, path)).json).toMatchObject({ result: [{}, {}, {}] });
    const stored = await service.db
      .collection('tidemark.consumers')
      .find({ '_id.organizationid': app.organizationid })
      .toArray();
    expect(stored).toEqual([]);
  });

  it('writes nothing', async () => {
    const headers = { ...(await signedIn(root)), 'tidemark-as': app.user('write') };
    const path = `${app.organizationid}/${app.appid}/api/v0.1/member`;
    expect((await asked(headers, path, 'POST')).status).toBe(403);
  });

  it('as nobody who opens more, who is not there, or who opens nothing', async () => {
    const other = await service.application();
    const headers = await signedIn(owner);
    const disabled = await app.credential({ disabled: true });
    for (const name of [other.user('read'), root, 'nobody', disabled, '%', undefined]) {
      const answer = await asked({ ...headers, ...(name && { 'tidemark-as': name }) }, feed());
      expect(answer).toMatchObject({ status: 403, json: { title: 'The credential cannot be used' } });
    }
    expect((await asked({ ...headers, 'tidemark-as': app.user('read') }, feed(other))).status).toBe(404);
  });
});
