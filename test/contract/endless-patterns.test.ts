import { expectProblem, send, type TestApplication, TestService } from '../support/index.js';
import type { Status } from '../../src/administration/index.js';
import { AdminConsole } from './admin-console.js';
import { type OwnMongod, startOwn } from '../support/own-mongod.js';

/** MongoDB compares every character with every one behind it, some half a minute long, and does not interrupt that. */
const endless = (ends: string) => ({ 'data.text': { $regex: `a*[${ends}]{2,9}` } });
const STORED = { plan: endless('#;'), preview: endless('%&') };
const TEXT = 'a'.repeat(250_000);
/** By a name that is in no index. */
const CHEAP = { 'data.text': 'none' };

/** An answer, and whether MongoDB was still at work at the stored filter when it came. */
interface Early {
  status: number;
  json: unknown;
  isAtWork: boolean;
}

let mongod: OwnMongod;
let service: TestService;
let app: TestApplication;
let place: string;

beforeAll(async () => {
  mongod = await startOwn();
  process.env['TIDEMARK_TEST_MONGODB_URI'] = mongod.uri;
  service = await TestService.start();
  app = await service.application();
  await app.product({ data: { text: TEXT } });
  place = `applications/${app.organizationid}/${app.appid}`;
});
/** The service ends after its database: it would wait for what no other end has. */
afterAll(async () => {
  await mongod.stop();
  await service.end();
});

const ask = (method: string, path: string, body?: object) =>
  send(`${service.url}/admin/v1/${path}`, method, { user: app.user('admin'), body });

async function askEarly(method: string, path: string, stored: object, body: object): Promise<Early> {
  const { status, json } = await ask(method, path, body);
  return { status, json, isAtWork: await isAtWork(stored) };
}

/** Whether MongoDB is still at work at a query of records by a filter. */
async function isAtWork(filter: object): Promise<boolean> {
  const ofProducts = { ns: service.db.collection('products').namespace, op: { $in: ['query', 'command'] } };
  const found = service.client
    .db('admin')
    .aggregate([{ $currentOp: { allUsers: true } }, { $match: ofProducts }]);
  const asked = JSON.stringify(filter);
  return (await found.toArray()).some(({ command }) => JSON.stringify(command).includes(asked));
}

const configuration = (name: string, filter: object) => ({
  applications: [{ ...app.tenant, services: [{ kind: 'product', name, filter }] }],
});

describe('a pattern that may take MongoDB long on a long text is refused before MongoDB sees it', () => {
  const refused = endless('!?');

  it.each<[string, () => [string, string, object]]>([
    ['saving it', () => ['PUT', `${place}/services/product/endless`, { filter: refused }]],
    ['a preview', () => ['POST', `${place}/preview/product`, { filter: refused }]],
    ['a plan', () => ['POST', 'configuration/plan', configuration('endless', refused)]],
    [
      'a change of the configuration',
      () => ['POST', 'configuration/apply', configuration('endless', refused)],
    ],
  ])('%s', async (_name, request) => {
    const { status, text } = await ask(...request());
    expect({ status, text }).toMatchObject({
      status: 400,
      text: expect.stringContaining(
        'The regular expression at data.text.$regex may take very long on a long text. Begin it with',
      ) as string,
    });
    expect(await isAtWork(refused)).toBe(false);
    expect(await service.db.collection('services').countDocuments(app.tenant)).toBe(0);
  });

  it('by the commands too', async () => {
    const words = ['--org', app.organizationid, '--app', app.appid, '--kind', 'product', '--name', 'endless'];
    const said = (command: string) =>
      new AdminConsole(service.uri).failure([
        ...['service', command, ...words, '--filter'],
        '{"$nor": [{"data.text": {"$in": [{"$regularExpression": {"pattern": "(a+)+!", "options": "i"}}]}}]}',
      ]);
    for (const command of ['set', 'preview'])
      expect(await said(command)).toContain(
        'The regular expression at $nor[0].data.text.$in[0] may take very long',
      );
  });
});

describe('a filter that was stored before such patterns were refused', () => {
  it('is served all the same, is told of by the status, and is left out of the configuration', async () => {
    await app.product({ id: 'last', data: { code: 'x1' } });
    await app.filter('product', 'digits', { 'data.code': { $regex: '[0-9]+$' } });
    expect((await app.feed('product', 'digits').page()).ids).toEqual(['last']);
    const { faultyFilters } = await new AdminConsole(service.uri).json<Status>('status');
    const named = `product service "digits" of ${app.organizationid}/${app.appid}`;
    expect(faultyFilters).toMatchObject({ services: 1, first: [{ service: named, isServed: true }] });
    expect(faultyFilters.first[0]!.detail).toContain(
      'The regular expression at data.code.$regex may take very long',
    );
    const { leftOut } = (await ask('GET', 'configuration')).json as { leftOut: string[] };
    expect(leftOut.join()).toContain(named);
    expect((await new AdminConsole(service.uri).run('service list')).output).toContain(
      'on, but it may take long',
    );
  });

  it('is compared with in previews, which are cut off and say so before MongoDB has done with it', async () => {
    await app.filter('product', 'planned', STORED.plan);
    await app.filter('product', 'previewed', STORED.preview);
    const [planned, previewed] = await Promise.all([
      askEarly('POST', 'configuration/plan', STORED.plan, configuration('planned', CHEAP)),
      askEarly('POST', `${place}/preview/product`, STORED.preview, { name: 'previewed', filter: CHEAP }),
    ]);
    const changes = [{ name: 'planned' }];
    expect(planned).toMatchObject({ status: 200, json: { changes }, isAtWork: true });
    expect(previewed).toMatchObject({ status: 200, json: { isCutOff: true }, isAtWork: true });
  });

  it('keeps what it takes until MongoDB has done with it: the organization waits for that everywhere, and no other does', async () => {
    const other = await service.application();
    await other.product({ id: 'p1', data: { n: 1 } });
    expect(await Promise.all([isAtWork(STORED.plan), isAtWork(STORED.preview)])).toEqual([true, true]);
    const wanted = configuration('further', CHEAP);
    const asked: [string, string, object?][] = [
      ['PUT', `${place}/services/product/further`, { filter: CHEAP }],
      ['POST', `${place}/preview/product`, { filter: CHEAP }],
      ['POST', 'configuration/plan', wanted],
      ['POST', 'configuration/apply', wanted],
      ['GET', `${place}/records/product/last`],
    ];
    const answers = await Promise.all(asked.map((one) => ask(...one)));
    for (const answer of answers) {
      expectProblem(answer, 503, 'busy');
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect(await service.db.collection('services').countDocuments({ name: 'further' })).toBe(0);
    const others = `${service.url}/admin/v1/applications/${other.organizationid}/${other.appid}`;
    const user = other.user('admin');
    const body = { filter: { 'data.n': 1 } };
    const made = await Promise.all([
      send(`${others}/preview/product`, 'POST', { user, body }),
      send(`${others}/services/product/one`, 'PUT', { user, body }),
      send(`${others}/records/product/p1`, 'GET', { user }),
    ]);
    expect(made.map(({ status }) => status)).toEqual([200, 200, 200]);
  });
});
