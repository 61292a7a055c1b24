/** @depends-on-server */
import { judge } from '../../conformance/src/index.js';
import { eventually, expectProblem, PASSWORD, type TestApplication, TestService } from '../support/index.js';
import { AdminConsole } from './admin-console.js';
import { BOUNDS } from './conformance/runs.js';
import { commandsDuring, nameOf } from './profiler.js';

const HOUR_MS = 3_600_000;
const hoursAgo = (hours: number) => new Date(Date.now() - hours * HOUR_MS);

let service: TestService;

beforeAll(async () => {
  service = await TestService.start();
  const console = new AdminConsole(service.uri);
  await console.json(['restored', '--backup', hoursAgo(2).toISOString()]);
});
afterAll(() => service.stop());

const updatesFrom = (app: TestApplication, from: Date) =>
  app.get('product/default/updates', {
    query: { from: from.toISOString(), to: new Date().toISOString() },
  });

it('a consumer can continue from the offset of `max`, although the greatest stamp lies in the time that was lost', async () => {
  const app = await service.application();
  await app.product({ lastupdated: hoursAgo(1) });
  await eventually(async () => (await app.max('product')).getTime() > 0);
  expectProblem(await updatesFrom(app, hoursAgo(1)), 410, 'source-restored');
  expect((await updatesFrom(app, await app.max('product'))).status).toBe(200);
});

it('the conformance kit finds no fault in that offset, which no record has', async () => {
  const app = await service.application();
  await app.product({ lastupdated: hoursAgo(1) });
  await eventually(async () => (await app.max('product')).getTime() > 0);
  const { checks } = await judge({
    target: { url: service.url, ...app.tenant, kind: 'product', services: [] },
    login: { username: app.user('read'), password: PASSWORD },
    ...{ parts: ['seed'], only: ['max-greatest'], bounds: BOUNDS, pages: 1 },
  });
  expect(checks).toEqual([
    expect.objectContaining({ outcome: 'not judged', lacks: [expect.stringContaining('restored')] }),
  ]);
});

it('the command examines what was stamped in the time that was lost, however many records there are', async () => {
  const app = await service.application();
  const at = hoursAgo(5);
  await app.products(2000, (index) => ({ lastupdated: new Date(at.getTime() - index) }));
  const late = await app.products(3, (index) => ({
    id: `late-${index}`,
    lastupdated: new Date(at.getTime() + 1000 + index),
  }));
  await service.watcher.caughtUp();
  const stamps = () =>
    service.db
      .collection('products')
      .find({ ...app.tenant, lastupdated: { $lt: hoursAgo(4) } })
      .toArray();
  expect(await stamps()).toHaveLength(2003);
  const console = new AdminConsole(service.uri);
  const commands = await commandsDuring(service.db, async () => {
    const done = await console.json<{ records: number }>(['restored', '--backup', at.toISOString()]);
    expect(done.records).toBeGreaterThanOrEqual(late.length);
  });
  expect(await stamps()).toHaveLength(2000);
  const examined = commands
    .filter((one) => /^(find|getMore|aggregate|count) products$/.test(nameOf(one)))
    .reduce((sum, { docsExamined = 0 }) => sum + docsExamined, 0);
  expect(examined).toBeLessThan(200);
});

it('an instance that knows of one restore hears of the next', async () => {
  const app = await service.application();
  await app.product();
  await service.knows(app);
  const to = (await app.max('product')).toISOString();
  const from = hoursAgo(7).toISOString();
  const updates = () => app.get('product/default/updates', { query: { from, to } });
  expect((await updates()).status).toBe(200);
  const console = new AdminConsole(service.uri);
  await console.json(['restored', '--backup', hoursAgo(8).toISOString()]);
  await service.heard();
  expectProblem(await updates(), 410, 'source-restored');
});

it('the audit trail has the restore', async () => {
  const [entry] = await service.db
    .collection('tidemark.audittrail')
    .find({ action: 'database.restored' })
    .toArray();
  expect(entry).toMatchObject({
    via: 'command',
    target: expect.stringMatching(/^times after 20.* and before 20/),
  });
});
