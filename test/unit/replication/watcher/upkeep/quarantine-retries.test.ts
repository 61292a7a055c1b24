import { mongo } from 'mongoose';
import { NO_TERM } from '../../../../../src/replication/store/index.js';
import { QuarantineRetries } from '../../../../../src/replication/watcher/upkeep/quarantine-retries.js';

/** A step of the retries, in which everything fails with an error of the server. */
function retries(code: number) {
  const entry = { _id: { what: 'record', kind: 'product', owner: new mongo.ObjectId() } };
  const postponed: unknown[] = [];
  const quarantine = {
    mayHaveEntries: true,
    due: () => Promise.resolve([entry]),
    postpone: (some: unknown[]) => Promise.resolve(postponed.push(...some)),
  };
  const now = { at: new mongo.Timestamp({ t: 7, i: 1 }), clock: new Date() };
  const processed = { share: { but: [] }, withoutKinds: [] };
  const workedThrough = { now: () => Promise.resolve(now), upTo: () => Promise.resolve(processed) };
  const retry = {
    within: (_processed: unknown, entries: unknown[]) => Promise.resolve(entries),
    maintain: () => Promise.reject(new mongo.MongoServerError({ message: 'refused', code })),
  };
  const options = { changed: () => Promise.resolve([]) };
  const parts = [quarantine, workedThrough, retry, options] as unknown as ConstructorParameters<
    typeof QuarantineRetries
  >;
  const step = () => new QuarantineRetries(...parts).step(new AbortController().signal, NO_TERM);
  return { step, postponed, entry };
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
