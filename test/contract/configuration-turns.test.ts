import type * as PerfHooks from 'node:perf_hooks';
import { type Answer, send, type TestApplication, TestService } from '../support/index.js';

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

/** By the clock of the service each look at it takes longer than work may keep the thread. */
function slowClock(): jest.SpyInstance {
  const { performance } = loadedByNode('node:perf_hooks') as typeof PerfHooks;
  const now = performance.now.bind(performance);
  let looks = 0;
  return jest.spyOn(performance, 'now').mockImplementation(() => now() + 10 * (looks += 1));
}

/** How many other requests are answered, one after the other, before the answer to this one comes. */
async function othersDuring(ask: () => Promise<Answer>): Promise<{ others: number; answer: Answer }> {
  let isOver = false;
  const clock = slowClock();
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

it.each<[string, () => Promise<Answer>, object]>([
  ['is planned', () => ask('POST', 'configuration/plan', body), { changes: [], untold: [] }],
  ['is applied', () => ask('POST', 'configuration/apply', body), { changes: [], passwords: {} }],
  ['is answered', () => ask('GET', 'configuration'), { leftOut: [] }],
  [
    'is listed, service by service',
    () => ask('GET', `applications/${app.organizationid}/${app.appid}/services`),
    { result: expect.any(Array) as object[] },
  ],
])('while a large configuration %s, other requests are answered', async (_what, asked, expected) => {
  await asked();
  const { others, answer } = await othersDuring(asked);
  expect([answer.status, answer.json]).toEqual([200, expect.objectContaining(expected)]);
  expect(others).toBeGreaterThan(OTHERS);
});
