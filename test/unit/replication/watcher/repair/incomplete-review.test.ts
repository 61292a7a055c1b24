import { mongo } from 'mongoose';
import { kindsIn, kindNames, replaceKinds } from '../../../../../src/kinds/index.js';
import { IncompleteReview } from '../../../../../src/replication/watcher/repair/reviews.js';

const ORDERS = kindsIn([{ _id: new mongo.ObjectId(), name: 'order', collection: 'orders' }]);

beforeEach(() => replaceKinds(ORDERS));
afterEach(() => replaceKinds(new Map()));

/** A review in which only orders have incomplete identities, more than one slice of them. */
function review() {
  const looked: { kind: string; behind: unknown }[] = [];
  const end = new mongo.ObjectId();
  const incomplete = {
    nextRange: (kind: string, behind: unknown) => {
      looked.push({ kind, behind });
      return Promise.resolve(kind === 'order' ? { behind, end, count: 1 } : undefined);
    },
    // oxlint-disable-next-line typescript/require-await
    inRange: async function* () {
      yield [];
    },
  };
  const workedThrough = {
    now: () => Promise.resolve({ at: new mongo.Timestamp({ t: 7, i: 1 }) }),
    upTo: () => Promise.resolve(undefined),
  };
  const parts = [{}, incomplete, {}, {}, workedThrough] as unknown as ConstructorParameters<
    typeof IncompleteReview
  >;
  const made = new IncompleteReview(...parts);
  return { step: () => made.step(new AbortController().signal), looked, end };
}

it('goes on with the first kind after the removal of the kind that it has begun', async () => {
  const { step, looked, end } = review();
  for (let n = 0; n < kindNames().length + 1; n += 1) await step();
  expect(looked.at(-1)).toEqual({ kind: 'order', behind: end });
  replaceKinds(new Map());
  await step();
  expect(looked.at(-1)).toEqual({ kind: kindNames()[0], behind: undefined });
});
