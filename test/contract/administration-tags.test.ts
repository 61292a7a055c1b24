import type { OpenAPIObject } from '@nestjs/swagger';
import {
  type Answer,
  eventually,
  expectProblem,
  send,
  type TestApplication,
  TestService,
} from '../support/index.js';

let service: TestService;
let app: TestApplication;
let root: string;
beforeAll(async () => {
  service = await TestService.alone();
  app = await service.application({ organizationid: 'acme', appid: 'shop' });
  root = await app.credential({ level: 'admin', scopes: [{ organizationid: '*', appid: '*' }] });
});
afterAll(() => service?.stop());

const admin = (method: string, path: string, options: object = {}): Promise<Answer> =>
  send(`${service.url}/admin/v1/${path}`, method, { user: root, ...options });
/** Asks again, as a browser does that has stored the answer. */
const revalidate = (path: string, before: Answer): Promise<Answer> =>
  admin('GET', path, { headers: { 'if-none-match': String(before.headers.get('etag')) } });

describe('An answer is 304 only if it shows nothing beyond the document of its ETag', () => {
  it('a kind: its state', async () => {
    const created = await admin('POST', 'kinds', { body: { name: 'order', collection: 'orders' } });
    await eventually(async () => {
      const { json } = await admin('GET', 'kinds/order');
      return (json as { state: string }).state === 'ready';
    });
    const again = await revalidate('kinds/order', created);
    expect(again).toMatchObject({ status: 200, json: { name: 'order', state: 'ready' } });
    expect(again.headers.get('etag')).toBe(created.headers.get('etag'));
  });

  it('a credential: its last use', async () => {
    const path = `credentials/${app.user('read')}`;
    const first = await admin('GET', path);
    const at = new Date('2026-01-02T03:04:00.000Z');
    const uses = service.db.collection<{ _id: string }>('tidemark.credentialuses');
    await uses.updateOne({ _id: app.user('read') }, { $set: { at, from: '192.0.2.1' } }, { upsert: true });
    expect(await revalidate(path, first)).toMatchObject({
      status: 200,
      json: { lastUsed: at.toISOString(), lastUsedFrom: '192.0.2.1' },
    });
  });

  it('a configuration: what is not part of it', async () => {
    const first = await admin('GET', 'configuration');
    expect(first.json).toMatchObject({ leftOut: [] });
    await service.db.collection('applications').insertOne({ organizationid: 'acme', appid: 'not valid' });
    const again = await revalidate('configuration', first);
    expect(again).toMatchObject({ status: 200, json: { leftOut: [expect.stringContaining('not valid')] } });
    expect(again.headers.get('etag')).toBe(first.headers.get('etag'));
  });

  it('an application and a service show their documents only', async () => {
    const ofApp = 'applications/acme/shop';
    const toService = `${ofApp}/services/product/red`;
    await admin('PUT', toService, { body: { filter: { 'data.color': 'red' } } });
    for (const path of [ofApp, toService])
      expect((await revalidate(path, await admin('GET', path))).status).toBe(304);
    const { paths } = (await send(`${service.url}/openapi.json`, 'GET', {})).json as OpenAPIObject;
    const statuses = (path: string) =>
      Object.keys(paths[`/admin/v1/applications/{org}/{app}${path}`]!.get!.responses);
    for (const path of ['', '/services/{kind}/{name}']) expect(statuses(path)).toContain('304');
  });
});

describe('A change whose `If-Match` does not match this `ETag` is 412, even if it changes nothing:', () => {
  it.each([
    ['an application', () => 'applications/acme/shop'],
    ['a credential', () => `credentials/${app.user('read')}`],
  ])('%s', async (_what, path) => {
    const patch = (ifMatch: string) => admin('PATCH', path(), { body: {}, headers: { 'if-match': ifMatch } });
    expectProblem(await patch('"stale"'), 412, 'precondition-failed');
    const { headers } = await admin('GET', path());
    const current = String(headers.get('etag'));
    const unchanged = await patch(current);
    expect([unchanged.status, unchanged.headers.get('etag')]).toEqual([200, current]);
  });
});
