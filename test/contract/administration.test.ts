import { randomUUID } from 'node:crypto';
import { setService } from '../../src/administration/index.js';
import {
  type Answer,
  eventually,
  send,
  type SendOptions,
  type TestApplication,
  TestService,
} from '../support/index.js';

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
const ofApp = (path = '') => `applications/${app.organizationid}/${app.appid}${path}`;
const etagOf = ({ headers }: Answer) => ({ 'if-match': headers.get('etag') ?? '' });
const short = () => randomUUID().slice(0, 8);

interface Shown {
  result: Record<string, unknown>[];
}

describe('Administration API /admin/v1', () => {
  it.each([
    ['GET', 'applications'],
    ['GET', 'credentials'],
    ['GET', 'status'],
    ['GET', 'audittrail'],
    ['GET', 'applications/a/b/services'],
    ['PUT', 'applications/a/b/services/product/x'],
    ['POST', 'applications/a/b/preview/product'],
  ])('%s %s needs credentials of level admin', async (method, path) => {
    expect((await admin(method, path, { user: null })).status).toBe(401);
    expect((await admin(method, path, { user: app.user('write') })).status).toBe(403);
  });

  it('registers, shows, changes and removes an application', async () => {
    const body = { organizationid: app.organizationid, appid: `new-${short()}`, title: 'New' };
    const path = `applications/${body.organizationid}/${body.appid}`;
    const created = await admin('POST', 'applications', { body });
    expect(created).toMatchObject({ status: 201, json: body });
    expect(created.headers.get('location')).toBe(path);
    expect(await admin('POST', 'applications', { body })).toMatchObject({
      status: 409,
      json: { type: 'urn:tidemark:problem:name-taken' },
    });
    const changed = await admin('PATCH', path, {
      body: { title: null, settings: { replicatepasswordhash: true } },
      headers: etagOf(created),
    });
    expect(changed.json).toEqual({
      organizationid: body.organizationid,
      appid: body.appid,
      settings: { replicatepasswordhash: true },
    });
    expect((await admin('PATCH', path, { body: { title: 'x' }, headers: etagOf(created) })).status).toBe(412);
    expect((await admin('DELETE', path, { headers: etagOf(created) })).status).toBe(412);
    expect((await admin('DELETE', path, { headers: etagOf(changed) })).status).toBe(200);
    expect((await admin('GET', path)).status).toBe(404);
  });

  it('an application with records is removed with purge only', async () => {
    const full = await service.application({ organizationid: app.organizationid });
    await full.products(3);
    const path = `applications/${full.organizationid}/${full.appid}`;
    expect(await admin('DELETE', path)).toMatchObject({
      status: 409,
      json: { type: 'urn:tidemark:problem:in-use' },
    });
    expect(await admin('DELETE', path, { headers: { 'if-match': '"another"' } })).toMatchObject({
      status: 412,
    });
    expect(await admin('DELETE', path, { query: { purge: 'yes' } })).toMatchObject({
      status: 400,
      json: {
        errors: [{ parameter: 'purge', detail: '"yes" is not valid. Send true or false.' }],
      },
    });
    expect((await admin('DELETE', path, { query: { purge: 'true' } })).json).toEqual({
      removed: { member: 0, product: 3 },
    });
  });

  it('a removal that was interrupted can be repeated while services are left', async () => {
    const { tenant } = await service.application();
    const { organizationid, appid } = tenant;
    const services = service.db.collection('services');
    await services.insertOne({ ...tenant, kind: 'product', name: 'left', filter: {} });
    await service.db.collection('applications').deleteOne(tenant);
    const path = `applications/${organizationid}/${appid}`;
    expect((await admin('DELETE', path)).status).toBe(200);
    expect(await services.countDocuments(tenant)).toBe(0);
    expect((await admin('DELETE', path)).status).toBe(404);
  });

  it('sets a service that then is served, and refuses a stale version', async () => {
    await app.product({ id: 'red', data: { color: 'red' } });
    const path = ofApp('/services/product/colored');
    const first = await admin('PUT', path, { body: { filter: { 'data.color': 'red' }, description: 'x' } });
    expect(first).toMatchObject({ status: 200, json: { filter: { 'data.color': 'red' }, enabled: true } });
    await eventually(async () => (await app.feed('product', 'colored').ask()).status === 200);
    const body = { filter: { 'data.color': 'blue' } };
    const second = await admin('PUT', path, { body, headers: etagOf(first) });
    expect(second).toMatchObject({ status: 200, json: { ...body, description: 'x' } });
    expect((await admin('PUT', path, { body, headers: etagOf(first) })).status).toBe(412);
    expect((await admin('PUT', path, { body, headers: { 'if-none-match': '*' } })).status).toBe(409);
    expect((await admin('GET', ofApp('/services'))).json).toMatchObject({ result: [{ name: 'colored' }] });
    expect((await admin('DELETE', path, { headers: etagOf(first) })).status).toBe(412);
    expect((await admin('DELETE', path)).status).toBe(204);
    expect((await admin('GET', path)).status).toBe(404);
  });

  it.each<[string, object, string]>([
    ['an operator', { filter: { a: { $where: '1' } } }, '"$where" at a is not allowed'],
    ['what MongoDB refuses', { filter: { a: { $regex: '(' } } }, 'MongoDB refuses the filter'],
    ['a filter that is none', { filter: 'all' }, 'The filter must be a document'],
    ['no filter', { description: 'x' }, 'is missing'],
    ['another property', { filter: {}, filters: {} }, 'is an unknown property. Known properties: filter'],
    ['a wrong type', { filter: {}, enabled: 'yes' }, 'is not true or false'],
    [
      'a nest',
      { filter: JSON.parse(`{"a":${'['.repeat(500)}${']'.repeat(500)}}`) as object },
      'nested deeper',
    ],
  ])(
    'a service with %s is a 400 that names the place, and nothing is stored',
    async (_name, body, sentence) => {
      const answer = await admin('PUT', ofApp('/services/product/wrong'), { body });
      expect(answer).toMatchObject({ status: 400, json: { type: 'urn:tidemark:problem:invalid-request' } });
      const { errors } = answer.json as { errors: { pointer: string; detail: string }[] };
      expect(errors[0]?.pointer).toMatch(/^\/(filter|filters|enabled)$/);
      expect(errors[0]?.detail).toContain(sentence);
      expect(await service.db.collection('services').countDocuments({ name: 'wrong' })).toBe(0);
    },
  );

  it('of several changes of one version at the same moment one is made', async () => {
    const path = ofApp('/services/product/raced');
    for (let round = 0; round < 5; round += 1) {
      const known = await admin('PUT', path, { body: { filter: {}, description: `round ${round}` } });
      const answers = await Promise.all(
        ['a', 'b', 'c', 'd'].map((description) =>
          admin('PUT', path, { body: { filter: {}, description }, headers: etagOf(known) }),
        ),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412]);
    }
  });

  it('of several changes at the same moment that name no version all are made: 412 is for If-Match', async () => {
    const made = (method: string, path: string, bodyOf: (index: number) => object) =>
      Promise.all(Array.from({ length: 20 }, (_, index) => admin(method, path, { body: bodyOf(index) })));
    const titled = await made('PATCH', ofApp(''), (index) => ({ title: `title ${index}` }));
    expect(titled.filter(({ status }) => status !== 200)).toEqual([]);
    const fields = (index: number) => ({ filter: {}, fields: { except: [`data.n${index}`] } });
    const username = await app.credential({ level: 'read' });
    const expiring = (index: number) => ({ expiresAt: new Date(Date.now() + 1e8 + index).toISOString() });
    const changed = await made('PATCH', `credentials/${encodeURIComponent(username)}`, expiring);
    expect(changed.filter(({ status }) => status !== 200)).toEqual([]);
    const set = await made('PUT', ofApp('/services/product/chosen'), fields);
    expect(set.filter(({ status }) => status !== 200)).toEqual([]);
  });

  it('a service that is set while its application is removed is not left behind', async () => {
    const key = { ...app.tenant, appid: `gone-${short()}`, kind: 'product', name: 'late' } as const;
    const changeContext = {
      db: service.db,
      actor: { who: root, via: 'command', from: 'here' } as const,
      auditTrailDays: 1,
    };
    await expect(setService(changeContext, key, { filter: {} })).rejects.toThrow('There is no application');
    expect(await service.db.collection('services').findOne(key)).toBeNull();
  });

  it.each(['.', '..'])('nobody is called %s: no path names it', async (username) => {
    const body = { username, level: 'read', scopes: [app.tenant] };
    expect((await admin('POST', 'credentials', { body })).status).toBe(400);
  });

  it('takes dates in a filter, and shows them so that they can be sent again', async () => {
    const filter = { createDate: { $lt: { $date: '2026-01-01T00:00:00Z' } } };
    const answer = await admin('PUT', ofApp('/services/product/dated'), { body: { filter } });
    expect(answer.json).toMatchObject({ filter });
    const stored = await service.db.collection('services').findOne({ ...app.tenant, name: 'dated' });
    expect(stored?.['filter'].createDate.$lt).toEqual(new Date('2026-01-01'));
  });

  it('a credential is issued, used, changed, rotated and revoked; its hash is in no answer', async () => {
    const username = `made-${short()}`;
    const body = { username, level: 'read', scopes: [app.tenant] };
    const made = await admin('POST', 'credentials', { body });
    expect(made).toMatchObject({ status: 201, json: { ...body, state: 'valid' } });
    const { password } = made.json as { password: string };
    const max = (with_: string) => app.get('product/max', { user: username, password: with_ });
    await eventually(async () => (await max(password)).status === 200);
    expect((await admin('POST', 'credentials', { body })).status).toBe(409);
    const rotated = await admin('POST', `credentials/${username}/rotate`);
    const { password: next } = rotated.json as { password: string };
    await eventually(async () => (await max(password)).status === 401);
    expect((await max(next)).status).toBe(200);
    const path = `credentials/${username}`;
    const off = await admin('PATCH', path, { body: { disabled: true }, headers: etagOf(rotated) });
    expect(off.json).toMatchObject({ disabled: true, state: 'disabled' });
    await eventually(async () => (await max(next)).status === 401);
    expect((await admin('PATCH', path, { body: { level: 'write' }, headers: etagOf(rotated) })).status).toBe(
      412,
    );
    expect((await admin('DELETE', path)).status).toBe(204);
    expect((await admin('GET', path)).status).toBe(404);
    const all = [made, rotated, off, await admin('GET', 'credentials')].map(({ text }) => text).join();
    expect(all).not.toMatch(/argon2|passwordhash"/);
  });

  it('every change stands in the audit trail: who, what, when and from where, and no secret', async () => {
    const made = await admin('POST', 'credentials', {
      body: { username: `trail-${short()}`, level: 'read', scopes: [app.tenant] },
    });
    const { username, password } = made.json as { username: string; password: string };
    const member = await app.send('POST', 'api/v0.1/member', {
      body: { accountnumber: '1', email: 'trail@example.org', contactname: 'SECRET-NAME' },
    });
    const { id } = member.json as { id: string };
    await app.send('PATCH', `api/v0.1/member/${id}`, { body: { contactname: 'OTHER-NAME' } });
    const trail = async () => (await admin('GET', 'audittrail', { user: owner })).json as Shown;
    await eventually(async () => (await trail()).result.some(({ action }) => action === 'member.change'));
    const { result } = await trail();
    expect(result.find(({ action }) => action === 'credential.issue')).toMatchObject({
      ...{ who: root, via: 'http', from: '127.0.0.1', target: `credential ${username}` },
      organizationid: app.organizationid,
    });
    expect(result.find(({ action }) => action === 'member.change')).toMatchObject({
      ...{ who: app.user('write'), target: `member ${id}`, changed: ['data.contactname'], ...app.tenant },
      requestId: expect.stringMatching(/./) as string,
    });
    expect(JSON.stringify(result)).not.toMatch(new RegExp(`${password}|SECRET-NAME|OTHER-NAME|argon2`));
  });

  it('the audit trail comes in pages', async () => {
    const page = (query: Record<string, string>) => admin('GET', 'audittrail', { query });
    const seen: unknown[] = [];
    for (let next: string | undefined; next !== '';) {
      const { json } = await page({ limit: '3', ...(next !== undefined && { before: next }) });
      const { result, next: behind } = json as Shown & { next: string };
      seen.push(...result.map(({ _id }) => _id));
      next = behind;
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.length).toBe(await service.db.collection('tidemark.audittrail').countDocuments());
    const whole = (await page({ limit: String(seen.length) })).json as Shown & { next: string };
    expect([whole.result.length, whole.next]).toEqual([seen.length, '']);
    expect((await page({ limit: '0' })).status).toBe(400);
    expect((await page({ before: 'x' })).status).toBe(400);
  });

  it('each entry goes when its time has come', async () => {
    const indexes = await service.db.collection('tidemark.audittrail').indexes();
    expect(indexes).toContainEqual(expect.objectContaining({ key: { expires: 1 }, expireAfterSeconds: 0 }));
    const entry = await service.db.collection('tidemark.audittrail').findOne();
    expect(entry?.['expires'] - entry?.['at']).toBe(365 * 86_400_000);
  });

  it('status is for those who cover everything', async () => {
    expect((await admin('GET', 'status')).json).toMatchObject({ watcher: {}, missingIndexes: [] });
    expect((await admin('GET', 'status', { user: owner })).status).toBe(403);
  });
});
