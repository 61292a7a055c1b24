import { mongo } from 'mongoose';
import { NO_TERM } from '../../../../../src/replication/store/index.js';
import { Resurrections } from '../../../../../src/replication/watcher/stamping/resurrections.js';
import { StampsAbove } from '../../../../../src/replication/watcher/stamping/stamps-above.js';
import { placeAt, TENANT } from '../../protocol/written.js';

const IDS = ['a', 'b', 'c'];
const records = IDS.map((id) => ({ _id: new mongo.ObjectId(), ...TENANT, id }));
const TIMEOUT = new mongo.MongoServerError({ message: 'operation exceeded time limit', code: 50 });

/** The review of hard deletes whose records are back; each transaction of the resurrection fails with an error. */
function review(error: Error) {
  const setAside: unknown[] = [];
  const session = { withTransaction: () => Promise.reject(error) };
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
  const identities = IDS.map((id) => ({ kind: 'product', ...TENANT, id }));
  const run = () => made.review('product', identities, { at: placeAt(1), fences: new Map() }, NO_TERM);
  return { run, setAside };
}

// No event of the batch names these records, so the batch could not tell which of its events have to wait.
it('sets aside the records that a transaction holds, instead of failing for their hard deletes', async () => {
  const { run, setAside } = review(TIMEOUT);
  await run();
  const concerns = records.map(({ _id }) => ({ what: 'record', kind: 'product', owner: _id }));
  expect(setAside).toEqual(concerns.map((concern) => ({ concern, what: 'stamp' })));
});

it('fails for any other reason', async () => {
  const { run, setAside } = review(new Error('refused'));
  await expect(run()).rejects.toThrow('refused');
  expect(setAside).toEqual([]);
});
