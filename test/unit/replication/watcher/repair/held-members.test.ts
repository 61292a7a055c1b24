import { mongo } from 'mongoose';
import { RecordsHeldError } from '../../../../../src/record/index.js';
import { EmailReview } from '../../../../../src/replication/watcher/repair/reviews.js';
import { TENANT } from '../../protocol/written.js';

const KEY = { ...TENANT, emailkey: 'a@example.com' };
const [GONE, HELD] = [new mongo.ObjectId(), new mongo.ObjectId()];

/** A member is gone whose key another member wants, which a transaction holds. */
function review(error: Error) {
  const setAside: unknown[] = [];
  const released: unknown[] = [];
  const settled: unknown[] = [];
  const member = { _id: HELD, ...TENANT, id: 'b', email: 'a@example.com', emailkey: null };
  const present = (stages: { $match?: { _id: { $in: mongo.ObjectId[] } } }[]) =>
    stages[0]!.$match!._id.$in.some((_id) => _id.equals(HELD)) ? [member] : [];
  const connection = {
    collection: () => ({
      aggregate: (stages: object[]) => ({ toArray: () => Promise.resolve(present(stages)) }),
    }),
  };
  const waits = (ids: mongo.ObjectId[]) => (ids.includes(HELD) ? [{ _id: HELD, ...KEY }] : []);
  const duplicates = {
    among: (ids: mongo.ObjectId[]) => Promise.resolve(waits(ids)),
    wantedOf: () => Promise.resolve([{ _id: GONE, ...KEY }]),
    next: () => Promise.resolve({ _id: HELD, ...KEY }),
    behind: () => Promise.resolve([{ _id: HELD, ...KEY }]),
    settle: (some: unknown[]) => Promise.resolve(settled.push(...some)),
    release: (some: unknown[]) => Promise.resolve(released.push(...some)),
  };
  const keys = { set: () => Promise.reject(error) };
  const quarantine = { setAsideRefused: (some: unknown[]) => Promise.resolve(setAside.push(...some)) };
  const parts = [connection, duplicates, keys, quarantine] as unknown as ConstructorParameters<
    typeof EmailReview
  >;
  return { made: new EmailReview(...parts), setAside, released, settled };
}

const held = () => new RecordsHeldError([HELD]);
const concern = { what: 'record', kind: 'member', owner: HELD };
const REFUSED = { concern, what: 'emailkey', reason: held().message };

it('a freed key waits for a member that a transaction holds, and no event fails for that', async () => {
  const { made, setAside, released, settled } = review(held());
  await made.review([GONE], []);
  expect({ setAside, released, settled }).toEqual({
    setAside: [REFUSED],
    released: [{ _id: GONE, ...KEY }],
    settled: [],
  });
});

it('the walk over the members that wait goes on', async () => {
  const { made, setAside, settled } = review(held());
  expect(await made.step()).toBe(600_000);
  expect({ setAside, settled }).toEqual({ setAside: [REFUSED], settled: [] });
});

it('any other error is thrown', async () => {
  const { made, setAside } = review(new Error('refused'));
  await expect(made.review([GONE], [])).rejects.toThrow('refused');
  expect(setAside).toEqual([]);
});
