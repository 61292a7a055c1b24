import { send, type TestApplication, TestService } from '../support/index.js';
import { type OwnMongod, startOwn } from '../support/own-mongod.js';

/** MongoDB compares every character with every one behind it, some half a minute long, and does not interrupt that. */
const endless = (ends: string) => ({ 'data.text': { $regex: `a*[${ends}]{2,9}` } });
const SAVED = endless('!?');
const PLANNED = endless('#;');
const PREVIEWED = endless('%&');
const TEXT = 'a'.repeat(250_000);

/** An answer, and whether MongoDB was still at work at the filter when it came. */
interface Early {
  status: number;
  json: unknown;
  isAtWork: boolean;
}

let mongod: OwnMongod;
let service: TestService;
let app: TestApplication;
let saved: Early;
let planned: Early;
let previewed: Early;

/** All three at once: what MongoDB is at keeps a processor busy until it ends. */
beforeAll(async () => {
  mongod = await startOwn();
  process.env['TIDEMARK_TEST_MONGODB_URI'] = mongod.uri;
  service = await TestService.start();
  app = await service.application();
  await app.product({ data: { text: TEXT } });
  const place = `applications/${app.organizationid}/${app.appid}`;
  const services = [{ kind: 'product', name: 'planned', filter: PLANNED }];
  [saved, planned, previewed] = await Promise.all([
    ask('PUT', `${place}/services/product/endless`, SAVED, { filter: SAVED }),
    ask('POST', 'configuration/plan', PLANNED, { applications: [{ ...app.tenant, services }] }),
    ask('POST', `${place}/preview/product`, PREVIEWED, { filter: PREVIEWED }),
  ]);
});
/** The service ends after its database: it would wait for what no other end has. */
afterAll(async () => {
  await mongod.stop();
  await service.end();
});

async function ask(method: string, path: string, filter: object, body: object): Promise<Early> {
  const { status, json } = await send(`${service.url}/admin/v1/${path}`, method, {
    user: app.user('admin'),
    body,
  });
  return { status, json, isAtWork: await isAtWork(filter) };
}

/** Whether MongoDB is still at work at a query of records by a filter. */
async function isAtWork(filter: object): Promise<boolean> {
  const ofProducts = { ns: service.db.collection('products').namespace, op: { $in: ['query', 'command'] } };
  const found = service.client.db('admin').aggregate([{ $currentOp: {} }, { $match: ofProducts }]);
  const asked = JSON.stringify(filter);
  return (await found.toArray()).some(({ command }) => JSON.stringify(command).includes(asked));
}

describe('a pattern that takes long on one long text', () => {
  it('is saved, and told so before MongoDB has done with it, like every filter that is only slow', () => {
    expect(saved).toMatchObject({ status: 200, isAtWork: true });
  });

  it('is left out of a plan, which tells the change all the same', () => {
    const changes = [{ action: 'create', name: 'planned' }];
    expect(planned).toMatchObject({ status: 200, json: { changes }, isAtWork: true });
  });

  it('is cut off in a preview, which says so', () => {
    expect(previewed).toMatchObject({ status: 200, json: { isCutOff: true }, isAtWork: true });
  });
});
