import { randomUUID } from 'node:crypto';
import type * as Argon2 from '@node-rs/argon2';
import { type Answer, send, type SendOptions, type TestApplication, TestService } from '../support/index.js';

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
});

const admin = (method: string, path: string, options: SendOptions = {}): Promise<Answer> =>
  send(`${service.url}/admin/v1/${path}`, method, { user: root, ...options });
const short = () => randomUUID().slice(0, 8);

describe('An administrator of one organization sees and changes nothing of another', () => {
  let other: TestApplication;
  let stranger: string;
  const as = () => ({ user: owner });
  const elsewhere = (path = '') => `applications/${other.organizationid}/${other.appid}${path}`;

  beforeAll(async () => {
    other = await service.application();
    await other.filter('product', 'theirs', { a: 1 });
    stranger = other.user('read');
  });

  it('in lists', async () => {
    const texts = await Promise.all(
      ['applications', 'credentials', 'audittrail'].map(
        async (path) => (await admin('GET', path, as())).text,
      ),
    );
    for (const text of texts) expect(text).not.toContain(other.organizationid);
    expect(texts[0]).toContain(app.appid);
    expect(texts[1]).toContain(app.user('read'));
    expect(texts[1]).not.toContain(root);
  });

  it.each<[string, () => string, object | undefined]>([
    ['GET', () => elsewhere(), undefined],
    ['PATCH', () => elsewhere(), { title: 'x' }],
    ['DELETE', () => elsewhere(), undefined],
    ['GET', () => elsewhere('/services'), undefined],
    ['GET', () => elsewhere('/services/product/theirs'), undefined],
    ['PUT', () => elsewhere('/services/product/theirs'), { filter: {} }],
    ['DELETE', () => elsewhere('/services/product/theirs'), undefined],
    ['POST', () => elsewhere('/preview/product'), { filter: {} }],
    ['GET', () => elsewhere('/records/product/x'), undefined],
    ['GET', () => elsewhere('/records/product/x/history'), undefined],
    ['GET', () => `credentials/${stranger}`, undefined],
    ['PATCH', () => `credentials/${stranger}`, { disabled: true }],
    ['POST', () => `credentials/${stranger}/rotate`, undefined],
    ['DELETE', () => `credentials/${stranger}/oldpassword`, undefined],
    ['DELETE', () => `credentials/${stranger}`, undefined],
    ['DELETE', () => `credentials/${root}`, undefined],
    ['POST', () => `credentials/${root}/rotate`, undefined],
  ])('%s %s is 404, as if it did not exist', async (method, path, body) => {
    const before = await snapshot();
    expect((await admin(method, path(), { ...as(), ...(body && { body }) })).status).toBe(404);
    expect(await snapshot()).toEqual(before);
  });

  it('a credential whose scopes are no such thing sees nothing', async () => {
    for (const scopes of ['*', null, [null, 5, { organizationid: 5 }]]) {
      const user = await app.credential({ level: 'admin', scopes });
      for (const path of ['applications', 'credentials', 'audittrail', 'consumers'])
        expect(await admin('GET', path, { user })).toMatchObject({ status: 200, json: { result: [] } });
      expect((await admin('GET', 'status', { user })).status).toBe(403);
      expect((await admin('GET', elsewhere(), { user })).status).toBe(404);
    }
  });

  it('and can register no application there, nor give a credential more than their own', async () => {
    const body = { organizationid: other.organizationid, appid: 'mine' };
    expect((await admin('POST', 'applications', { ...as(), body })).status).toBe(404);
    for (const scope of [
      other.tenant,
      { organizationid: '*', appid: '*' },
      { ...app.tenant, organizationid: '*' },
    ]) {
      const credential = { username: `more-${short()}`, level: 'read', scopes: [app.tenant, scope] };
      expect((await admin('POST', 'credentials', { ...as(), body: credential })).status).toBe(403);
    }
  });

  it('nor rotates one that is given more than they have meanwhile, whatever version they name', async () => {
    const argon2 = loadedByNode('@node-rs/argon2') as typeof Argon2;
    const { hash } = argon2;
    for (const headers of [{}, { 'if-match': '*' }]) {
      const username = await app.credential();
      const spied = jest.spyOn(argon2, 'hash').mockImplementationOnce(async (password, options) => {
        const scopes = [{ organizationid: '*', appid: '*' }];
        await service.db.collection('credentials').updateOne({ username }, { $set: { scopes } });
        return hash(password, options);
      });
      const answer = await admin('POST', `credentials/${username}/rotate`, { ...as(), headers });
      spied.mockRestore();
      expect(answer.status).toBe(404);
    }
  });

  const snapshot = async () =>
    Promise.all(
      ['applications', 'services', 'credentials'].map((name) =>
        service.db
          .collection(name)
          .find({}, { sort: { _id: 1 } })
          .toArray(),
      ),
    );
});

describe('The scopes of a new credential', () => {
  it.each<[string, object]>([
    ['/scopes/0/organizationid', { organizationid: 'acme!', appid: 'webshop' }],
    ['/scopes/0/appid', { organizationid: '*', appid: '' }],
    ['/scopes/0/appid', { organizationid: 'acme', appid: 5 }],
    ['/scopes/0/appid', { organizationid: 'acme' }],
  ])('a wrong name in a scope is named: %s of %j', async (pointer, scope) => {
    const body = { username: `scope-${short()}`, level: 'read', scopes: [scope] };
    const { status, json } = await admin('POST', 'credentials', { body });
    const detail = expect.stringMatching(
      /^must start with a letter or digit .*, or be "\*" for every one\.$/,
    );
    expect({ status, json }).toMatchObject({ status: 400, json: { errors: [{ pointer, detail }] } });
  });
});
