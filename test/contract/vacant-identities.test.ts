import { mongo } from 'mongoose';
import { Ledger } from '../../src/replication/ledger/index.js';
import { Audit } from '../../src/replication/upkeep/index.js';
import { type TestApplication, TestService } from '../support/index.js';

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.start();
  app = await service.application();
  jest.spyOn(service.app.get(Audit, { strict: false }), 'step').mockResolvedValue(60_000);
});
afterAll(() => service.stop());

/** What a term that was given up writes behind the pass of the next one: the record has gone before that began. */
async function learnedLate(id: string, isNumber: boolean): Promise<void> {
  const identity = { ...app.tenant, kind: 'product' as const, id };
  const owner = new mongo.ObjectId();
  const life = {
    identity,
    owner,
    at: '1',
    alive: true as const,
    ...(isNumber && { isNumber: true as const }),
  };
  await service.app.get(Ledger, { strict: false }).learn([life]);
}

it.each([
  ['a text', false, 77],
  ['a number', true, 78],
])('a number does not wait for a record that is gone, which was %s', async (_what, isNumber, id) => {
  await learnedLate(String(id), isNumber);
  const from = await app.max('product');
  await app.put('product', { id });
  await service.watcher.caughtUp();
  expect((await app.feed('product').drain({ from })).map((item) => item.id)).toEqual([String(id)]);
  expect((await app.hardDeletes('product').drain()).map((item) => item.id)).not.toContain(String(id));
});
