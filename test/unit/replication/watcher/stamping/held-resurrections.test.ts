import { mongo } from 'mongoose';
import { NO_TERM } from '../../../../../src/replication/store/index.js';
import { Resurrections } from '../../../../../src/replication/watcher/stamping/resurrections.js';
import { StampsAbove } from '../../../../../src/replication/watcher/stamping/stamps-above.js';
import { placeAt, TENANT } from '../../protocol/written.js';

const recordsOf = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ _id: new mongo.ObjectId(), ...TENANT, id: `${n}a` }));
const TIMEOUT = new mongo.MongoServerError({ message: 'operation exceeded time limit', code: 50 });

/** The review of hard deletes whose records are back; each transaction of the resurrection fails with an error. */
function review(error: Error, records: ReturnType<typeof recordsOf>, wait = () => undefined as unknown) {
  const setAside: unknown[] = [];
  const session = {
    withTransaction: () => {
      wait();
      return Promise.reject(error);
    },
  };
  const found = { find: () => ({ toArray: () => Promise.resolve(records) }) };
  const connection = {
    collection: () => ({ collectionName: 'products', db: { client: {} }, ...found }),
    getClient: () => ({ withSession: (work: (given: unknown) => unknown) => work(session) }),
  };
  const ledger = { ownedBy: () => Promise.resolve([]) };
  const claimants = { next: () => Promise.resolve([]) };
  const incomplete = { forgetEach: () => Promise.resolve() };
  const quarantine = {
    setAsideRefused: (refused: { concern: unknown; what: string }[]) =>
      Promise.resolve(setAside.push(...refused.map(({ concern, what }) => ({ concern, what })))),
  };
  const stamps = Object.assign(Object.create(StampsAbove.prototype) as object, { quarantine });
  const parts = { connection, ledger, claimants, incomplete, stamps };
  const made = Object.assign(
    Object.create(Resurrections.prototype) as object,
    parts,
  ) as unknown as Resurrections;
  const identities = records.map(({ id }) => ({ kind: 'product', ...TENANT, id }));
  const run = () => made.review('product', identities, { at: placeAt(1), fences: new Map() }, NO_TERM);
  return { run, setAside };
}

// No event of the batch names these records, so the batch could not tell which of its events have to wait.
it('sets aside the records that a transaction holds, instead of failing for their hard deletes', async () => {
  const records = recordsOf(3);
  const { run, setAside } = review(TIMEOUT, records);
  await run();
  const concerns = records.map(({ _id }) => ({ what: 'record', kind: 'product', owner: _id }));
  expect(setAside).toEqual(concerns.map((concern) => ({ concern, what: 'stamp' })));
});

it('fails for any other reason', async () => {
  const { run, setAside } = review(new Error('refused'), recordsOf(3));
  await expect(run()).rejects.toThrow('refused');
  expect(setAside).toEqual([]);
});

it('searches for held records for some seconds, however many there are', async () => {
  let now = performance.now();
  let attempts = 0;
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => now);
  const wait = () => {
    attempts += 1;
    now += 500;
  };
  const { run, setAside } = review(TIMEOUT, recordsOf(1000), wait);
  await run();
  clock.mockRestore();
  expect(setAside).toHaveLength(1000);
  // Ten or so within the five seconds of the search, one for each further part of that bulk, and one for each further bulk.
  expect(attempts).toBeLessThan(35);
});
