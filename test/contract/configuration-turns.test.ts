import type * as PerfHooks from 'node:perf_hooks';
import { type Answer, patiently, send, type TestApplication, TestService } from '../support/index.js';

const SERVICES = 1000;
/** Far more than are answered while the database is asked, where the thread is kept for the rest of the work. */
const OTHERS = SERVICES / 10;

let service: TestService;
let app: TestApplication;
let body: object;

beforeAll(async () => {
  service = await TestService.start();
  app = await service.application();
  const services = Array.from({ length: SERVICES }, (_, index) => ({
    ...{ kind: 'product', name: `s${index}`, filter: { 'data.n': index }, enabled: false },
  }));
  await service.db.collection('services').insertMany(services.map((one) => ({ ...app.tenant, ...one })));
  body = { applications: [{ ...app.tenant, services }] };
  await service.watcher.caughtUp();
});
afterAll(() => service?.stop());

/** By the clock of the service each look at it takes a while: 5 ms are as long as work may keep the thread. */
function slowClock(ms: number): jest.SpyInstance {
  const { performance } = loadedByNode('node:perf_hooks') as typeof PerfHooks;
  const now = performance.now.bind(performance);
  let looks = 0;
  return jest.spyOn(performance, 'now').mockImplementation(() => now() + ms * (looks += 1));
}

/** How many other requests are answered, one after the other, before the answer to this one comes. */
async function othersDuring(
  ask: () => Promise<Answer>,
  ms: number,
): Promise<{ others: number; answer: Answer }> {
  let isOver = false;
  const clock = slowClock(ms);
  const answered = ask().finally(() => (isOver = true));
  let others = 0;
  while (!isOver) {
    await send(`${service.url}/health/live`, 'GET', {});
    if (!isOver) others += 1;
  }
  clock.mockRestore();
  return { others, answer: await answered };
}

const ask = (method: string, path: string, sent?: object) =>
  send(`${service.url}/admin/v1/${path}`, method, { user: app.user('admin'), body: sent });

it.each<[string, () => Promise<Answer>, object, number]>([
  ['is planned', () => ask('POST', 'configuration/plan', body), { changes: [] }, 2],
  ['is applied', () => ask('POST', 'configuration/apply', body), { changes: [], passwords: {} }, 1],
  ['is answered', () => ask('GET', 'configuration'), { leftOut: [] }, 5],
  [
    'is listed, service by service',
    () => ask('GET', `applications/${app.organizationid}/${app.appid}/services`),
    { result: expect.any(Array) as object[] },
    5,
  ],
])('while a large configuration %s, other requests are answered', async (_what, asked, expected, ms) => {
  await expectOthers(asked, expected, ms);
});

it.each(['credentials', 'applications'])(
  'while thousands of %s are listed, other requests are answered',
  async (name) => {
    const { organizationid } = app;
    const many = Array.from({ length: SERVICES }, (_, index) => ({
      ...{ username: `user-${index}`, level: 'read', scopes: [{ organizationid, appid: `a${index}` }] },
      ...{ organizationid, appid: `a${index}` },
    }));
    await service.db.collection(name).insertMany(many);
    const user = await app.credential({ level: 'admin', scopes: [{ organizationid, appid: '*' }] });
    const list = () => send(`${service.url}/admin/v1/${name}`, 'GET', { user });
    await expectOthers(list, { result: expect.any(Array) as object[] }, 5);
    await service.db.collection(name).deleteMany({ organizationid, appid: /^a\d/ });
  },
);

async function expectOthers(asked: () => Promise<Answer>, expected: object, ms: number): Promise<void> {
  await asked();
  const isLate = ({ answer }: { answer: Answer }) => answer.status === 503;
  const { others, answer } = await patiently(() => othersDuring(asked, ms), isLate);
  expect([answer.status, answer.json]).toEqual([200, expect.objectContaining(expected)]);
  expect(others).toBeGreaterThan(OTHERS);
}
