import { mongo } from 'mongoose';
import { Ledger, NO_TERM } from '../../src/replication/store/index.js';
import { Claimants, Resurrections, Audit } from '../../src/replication/watcher/index.js';
import { type Stored, type TestApplication, TestService } from '../support/index.js';

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.start();
  app = await service.application();
  jest.spyOn(service.app.get(Audit, { strict: false }), 'step').mockResolvedValue(60_000);
});
afterEach(() => held?.mockRestore());
afterAll(() => service.stop());

let held: jest.SpyInstance | undefined;

/** The same, just after the watcher has looked for those who hold what is claimed. */
function learnedBehindTheLook(id: string, isNumber: boolean): void {
  const claimants = service.app.get(Claimants, { strict: false });
  const holders = claimants.holders.bind(claimants);
  const spy = (held = jest.spyOn(claimants, 'holders').mockImplementation(async (...asked) => {
    const found = await holders(...asked);
    const { numbers, texts } = asked[1];
    if ([...numbers, ...texts].some((one) => one.id === id)) {
      spy.mockRestore();
      await learnedLate(id, isNumber);
    }
    return found;
  }));
}

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

const BEHIND_THE_LOOK: [string, unknown, string, boolean][] = [
  ['a number', 81, 'a text', false],
  ['a number', 82, 'a number', true],
  ['a text', '83', 'a number', true],
];

/** By the ledger the record lives there. */
async function expectKnown({ _id, id }: Stored): Promise<void> {
  const entries = service.db.collection('tidemark.ledger').find({ ...app.tenant, id: String(id) });
  expect(await entries.toArray()).toMatchObject([{ alive: true, owner: _id }]);
  expect((await app.hardDeletes('product').drain()).map((item) => item.id)).not.toContain(String(id));
}

describe('a term that was given up learns a record that is gone between the look at who lives there and the write', () => {
  it.each(BEHIND_THE_LOOK)(
    '%s (%j) does not wait for it, which was %s',
    async (_what, id, _late, isNumber) => {
      learnedBehindTheLook(String(id), isNumber);
      const record = await app.put('product', { id, lastupdated: new Date() });
      await service.watcher.caughtUp();
      expect((await app.feed('product').drain()).map((item) => item.id)).toContain(String(id));
      await expectKnown(record);
    },
  );

  it.each(BEHIND_THE_LOOK)(
    'nor does %s (%j) that a pass finds, though that was %s',
    async (_what, id, _late, isNumber) => {
      app = await service.application();
      const record = await app.put('product', { id });
      await service.watcher.caughtUp();
      await service.db.collection('tidemark.ledger').deleteOne({ ...app.tenant, id: String(id) });
      learnedBehindTheLook(String(id), isNumber);
      const life = {
        identity: { ...app.tenant, kind: 'product' as const, id: String(id) },
        owner: record._id,
        at: '2',
      };
      await service.app
        .get(Resurrections, { strict: false })
        .learnSeen(
          'product',
          [{ ...life, alive: true, ...(typeof id === 'number' && { isNumber: true }) }],
          NO_TERM,
        );
      await service.watcher.caughtUp();
      await expectKnown(record);
    },
  );
});
