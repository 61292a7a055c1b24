import { mongo } from 'mongoose';
import { NO_TERM } from '../../../../../src/replication/store/index.js';
import { QuarantineRetries } from '../../../../../src/replication/watcher/upkeep/quarantine-retries.js';

/** A step of the retries, in which everything that is not left out fails with an error of the server. */
function retries(code: number, { count = 1, isLeftOut = false } = {}) {
  const entry = { _id: { what: 'record', kind: 'product', owner: new mongo.ObjectId() } };
  const postponed: unknown[] = [];
  const putBack: unknown[] = [];
  const quarantine = {
    mayHaveEntries: true,
    due: () => Promise.resolve(Array<unknown>(count).fill(entry)),
    postpone: (some: unknown[]) => Promise.resolve(postponed.push(...some)),
    putBack: (some: unknown[]) => Promise.resolve(putBack.push(...some)),
  };
  const now = { at: new mongo.Timestamp({ t: 7, i: 1 }), clock: new Date() };
  const processed = { share: { but: [] }, withoutKinds: [] };
  const workedThrough = { now: () => Promise.resolve(now), upTo: () => Promise.resolve(processed) };
  const retry = {
    within: (_processed: unknown, entries: unknown[]) => Promise.resolve(isLeftOut ? [] : entries),
    maintain: () => Promise.reject(new mongo.MongoServerError({ message: 'refused', code })),
  };
  const options = { changed: () => Promise.resolve([]) };
  const parts = [quarantine, workedThrough, retry, options] as unknown as ConstructorParameters<
    typeof QuarantineRetries
  >;
  const step = () => new QuarantineRetries(...parts).step(new AbortController().signal, NO_TERM);
  return { step, postponed, putBack, entry };
}

it('an entry whose retry fails is postponed', async () => {
  const { step, postponed, entry } = retries(17419);
  await step();
  expect(postponed).toEqual([entry]);
});

// As where the stream was more than five minutes behind, and the step has waited for it.
it('no entry is postponed because the server no longer holds the moment of the step', async () => {
  const { step, postponed } = retries(239);
  await expect(step()).rejects.toThrow('refused');
  expect(postponed).toEqual([]);
});

it('a step pauses after it has only put entries back, however many more there are', async () => {
  const { step, putBack } = retries(0, { count: 500, isLeftOut: true });
  expect(await step()).toBeGreaterThan(0);
  expect(putBack).toHaveLength(500);
});
