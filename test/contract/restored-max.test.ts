import { eventually, expectProblem, type TestApplication, TestService } from '../support/index.js';
import { AdminConsole } from './admin-console.js';

/** @depends-on-server */

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
