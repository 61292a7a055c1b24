import { StampingProgress } from '../../../../../src/replication/watcher/filters/edited-records.js';

const EVERY_MS = 2000;
let now: number;
beforeEach(() => {
  now = 10_000;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => jest.restoreAllMocks());

function stamping(total: number | undefined) {
  const told: object[] = [];
  let counts = 0;
  const count = () => {
    counts += 1;
    return Promise.resolve(total);
  };
  const progress = new StampingProgress(count, (work) => Promise.resolve(void told.push(work)), EVERY_MS);
  return { progress, told, counts: () => counts };
}

it('a stamping that is over soon counts and tells nothing', async () => {
  const { progress, told, counts } = stamping(100);
  now += EVERY_MS - 1;
  await progress.within(50);
  await progress.advance(100);
  expect([told, counts()]).toEqual([[], 0]);
});

it('is told at times, with what is done of the stretch under way, of a total that is counted once', async () => {
  const { progress, told, counts } = stamping(100);
  await progress.advance(20);
  now += 2000;
  await progress.within(10.5);
  now += 1999;
  await progress.within(15);
  now += 1;
  await progress.advance(20);
  expect(told).toEqual([
    { done: 30, total: 100, pace: { seconds: 2, done: 30, added: 0 } },
    { done: 40, total: 100, pace: { seconds: 4, done: 40, added: 0 } },
  ]);
  expect(counts()).toBe(1);
});

it('a total that cannot be counted is left out, and not counted again', async () => {
  const { progress, told, counts } = stamping(undefined);
  now += 2000;
  await progress.advance(20);
  now += 2000;
  await progress.advance(20);
  expect(told).toEqual([
    { done: 20, pace: { seconds: 2, done: 20, added: 0 } },
    { done: 40, pace: { seconds: 4, done: 40, added: 0 } },
  ]);
  expect(counts()).toBe(1);
});
