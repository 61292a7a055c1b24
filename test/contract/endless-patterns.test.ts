import { send, type TestApplication, TestService } from '../support/index.js';
import { type OwnMongod, startOwn } from '../support/own-mongod.js';

/** MongoDB compares every character with every one behind it, some half a minute long, and does not interrupt that. */
const ENDLESS = { 'data.text': { $regex: 'a*[!?]{2,9}' } };
const TEXT = 'a'.repeat(250_000);

let mongod: OwnMongod;
let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  mongod = await startOwn();
  process.env['TIDEMARK_TEST_MONGODB_URI'] = mongod.uri;
  service = await TestService.start();
  app = await service.application();
  await app.product({ data: { text: TEXT } });
});
/** The service ends after its database: it would wait for what no other end has. */
afterAll(async () => {
  await mongod.stop();
  await service.end();
});

const ask = (method: string, path: string, body: object) =>
  send(`${service.url}/admin/v1/applications/${app.organizationid}/${app.appid}/${path}`, method, {
    user: app.user('admin'),
    body,
  });

/** Whether MongoDB is still at work at a query of records. */
const isAtWork = async () => {
  const ofProducts = { ns: service.db.collection('products').namespace, op: { $in: ['query', 'command'] } };
  const found = service.client.db('admin').aggregate([{ $currentOp: {} }, { $match: ofProducts }]);
  return (await found.toArray()).length > 0;
};

describe('a pattern that takes long on one long text', () => {
  it('is saved, and told so before MongoDB has done with it, like every filter that is only slow', async () => {
    expect((await ask('PUT', 'services/product/endless', { filter: ENDLESS })).status).toBe(200);
    expect(await isAtWork()).toBe(true);
  });

  it('is left out of a plan, which tells the change all the same', async () => {
    const service = { kind: 'product', name: 'planned', filter: ENDLESS };
    const body = { applications: [{ ...app.tenant, services: [service] }] };
    const url = `${app.service.url}/admin/v1/configuration/plan`;
    const { status, json } = await send(url, 'POST', { user: app.user('admin'), body });
    expect(status).toBe(200);
    expect(json).toMatchObject({ changes: [{ action: 'create', name: 'planned' }] });
    expect(await isAtWork()).toBe(true);
  });

  it('is cut off in a preview, which says so', async () => {
    const { status, json } = await ask('POST', 'preview/product', { filter: ENDLESS });
    expect({ status, ...(json as object) }).toMatchObject({ status: 200, isCutOff: true });
    expect(await isAtWork()).toBe(true);
  });
});
