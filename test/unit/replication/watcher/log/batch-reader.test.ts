import { mongo } from 'mongoose';
import { Reader, type Batch } from '../../../../../src/replication/watcher/log/change-stream.js';
import type { WatchedEvent } from '../../../../../src/replication/protocol/events.js';

const SECOND = 1000;
const DROP: WatchedEvent = {
  type: 'collectionLost',
  at: new mongo.Timestamp({ t: 1, i: 1 }),
  place: 'here',
  what: 'drop',
  collection: 'products',
};
const batch = (place: number, events: WatchedEvent[] = []): Batch => ({
  events,
  token: place,
  isLast: events.length === 0,
  until: new mongo.Timestamp({ t: 1, i: place }),
});

/** A stream whose batches are these, and then ends. */
async function* streamOf(batches: Batch[]): AsyncGenerator<Batch, void> {
  for (const one of batches) yield await Promise.resolve(one);
}

beforeEach(() => jest.useFakeTimers({ now: 0, doNotFake: ['nextTick', 'queueMicrotask'] }));
afterEach(() => jest.useRealTimers());

const places = (batches: Batch[]) => batches.map(({ token }) => token);

/** Keeps up once, and answers what was worked through. */
async function kept(reader: Reader): Promise<unknown[]> {
  const worked: Batch[] = [];
  await reader.keepUp((one) => Promise.resolve(worked.push(one)).then(() => undefined));
  return places(worked);
}

it('works through everything up to the first empty batch, and remembers the last', async () => {
  const reader = new Reader(streamOf([batch(0), batch(1, [DROP]), batch(2, [DROP]), batch(3), batch(4)]));
  await reader.next();
  jest.advanceTimersByTime(SECOND);
  expect(await kept(reader)).toEqual([1, 2, 3]);
  expect(reader.last.token).toBe(3);
});

it('once a second at most, since each reading waits for the server', async () => {
  const reader = new Reader(streamOf([batch(0), batch(1), batch(2)]));
  await reader.next();
  jest.advanceTimersByTime(SECOND - 1);
  expect(await kept(reader)).toEqual([]);
  jest.advanceTimersByTime(1);
  expect(await kept(reader)).toEqual([1]);
  expect(await kept(reader)).toEqual([]);
});

it('a batch that cannot be worked through is not remembered', async () => {
  const reader = new Reader(streamOf([batch(0), batch(1, [DROP])]));
  await reader.next();
  jest.advanceTimersByTime(SECOND);
  await expect(reader.keepUp(() => Promise.reject(new Error('no luck')))).rejects.toThrow('no luck');
  expect(reader.last.token).toBe(0);
});

it('a stream that has ended leaves the last batch', async () => {
  const reader = new Reader(streamOf([batch(0)]));
  expect(() => reader.last).toThrow('ended before it began');
  await reader.next();
  jest.advanceTimersByTime(SECOND);
  expect(await kept(reader)).toEqual([]);
  expect((await reader.next()).token).toBe(0);
});
