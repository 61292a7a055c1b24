import { judge, type JudgedCheck } from '../../conformance/src/index.js';
import { PASSWORD, type TestApplication, TestService } from '../support/index.js';
import { OF_EVENTS } from './conformance/faults-of-events.js';
import { WrongServer } from './conformance/wrong-server.js';
import { EventClient } from './event-client.js';

const BOUNDS = { requests: 200, requestMs: 30_000, runMs: 85_000 };

let service: TestService;
let app: TestApplication;
let front: WrongServer;
beforeAll(async () => {
  service = await TestService.start();
  app = await service.application();
  await app.products(2);
  front = await WrongServer.before(service.url);
});
afterAll(async () => {
  await front.stop();
  await service.stop();
});

async function outcomes(check: string, bounds = BOUNDS): Promise<JudgedCheck[]> {
  const target = { url: front.url, ...app.tenant, kind: 'product' as const, services: [] };
  const login = { username: app.user('read'), password: PASSWORD };
  const options = { parts: ['seed', 'events'] as const, only: [check], bounds, pages: 5 };
  return (await judge({ target, login, ...options, parts: [...options.parts] })).checks;
}
const HOLDS = [expect.objectContaining({ outcome: 'holds' })];

it('what others were told before may be told first, where somebody writes', async () => {
  const listener = await EventClient.open(app, 'product');
  const products = service.db.collection('products');
  const later = { $currentDate: { lastupdated: true as const } };
  const writing: Promise<unknown>[] = [];
  front.plant({ request: () => void writing.push(products.updateOne({ ...app.tenant }, later)) });
  for (let run = 0; run < 5; run += 1) expect(await outcomes('events-max')).toEqual(HOLDS);
  await Promise.all(writing);
  listener.leave();
});

it('a stream is listened to for as long as it takes, however short the time of a request is', async () => {
  front.plant(OF_EVENTS['events-max']!['no event comes']!);
  const bounds = { ...BOUNDS, requestMs: 5000, atOnceMs: 6000 };
  const [check] = await outcomes('events-max', bounds);
  expect(check).toMatchObject({ outcome: 'broken', lacks: [] });
  expect(check!.findings).toEqual([expect.objectContaining({ expected: 'an event at once' })]);
});
