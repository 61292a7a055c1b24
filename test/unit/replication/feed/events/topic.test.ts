import { setMaxListeners } from 'node:events';
import { Semaphore } from '../../../../../src/platform/common/index.js';
import { type Subscriber, Topic } from '../../../../../src/replication/feed/events/event-streams.js';

const ONE = new Date('2026-11-20T10:00:00.000Z');
const TWO = new Date('2026-11-20T10:00:01.000Z');

/** Who keeps what it is told. */
function listener(): { told: string[]; subscriber: Subscriber } {
  const told: string[] = [];
  return { told, subscriber: { send: (offset: string) => told.push(offset) } as unknown as Subscriber };
}

it('it is asked once for the first one, and those who come later are told what is known', async () => {
  const ask = jest.fn(() => Promise.resolve(ONE));
  const topic = new Topic(ask);
  const [one, other, late] = [listener(), listener(), listener()];
  topic.add(one.subscriber);
  topic.add(other.subscriber);
  await new Promise(setImmediate);
  topic.add(late.subscriber);
  expect([one.told, other.told, late.told]).toEqual(Array(3).fill([ONE.toISOString()]));
  expect(ask).toHaveBeenCalledTimes(1);
});

it('it is not asked again while an answer is awaited', async () => {
  let answer = (_max: Date) => {};
  const ask = jest.fn(() => new Promise<Date>((resolve) => (answer = resolve)));
  const topic = new Topic(ask);
  const refreshed = topic.refresh();
  await topic.refresh();
  answer(ONE);
  await refreshed;
  expect(ask).toHaveBeenCalledTimes(1);
});

it('where nothing can be known nobody is told anything, until it can', async () => {
  const ask = jest.fn<Promise<Date>, []>().mockRejectedValueOnce(new Error('away')).mockResolvedValue(TWO);
  const topic = new Topic(ask);
  const { told, subscriber } = listener();
  topic.add(subscriber);
  await new Promise(setImmediate);
  expect(told).toEqual([]);
  await topic.refresh();
  expect(told).toEqual([TWO.toISOString()]);
});

describe('while max does not answer', () => {
  const MOST_MS = 8000;
  const MINUTES = 10;

  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('each topic waits once for a place, however long that lasts, and all come to their turn', async () => {
    const places = new Semaphore(4);
    const over = new AbortController();
    setMaxListeners(Infinity, over.signal);
    const away = () =>
      new Promise<Date>((_resolve, reject) => void setTimeout(() => reject(new Error('away')), MOST_MS));
    const waiting = Array.from({ length: 200 }, () => 0);
    const asked = new Set<number>();
    const topics = waiting.map((_none, index) => {
      const work = () => (asked.add(index), away());
      return new Topic(() => {
        waiting[index]! += 1;
        return places.during(over.signal, work).finally(() => (waiting[index]! -= 1));
      });
    });
    for (let second = 0; second < MINUTES * 60; second += 1) {
      for (const topic of topics) void topic.refresh();
      expect(Math.max(...waiting)).toBe(1);
      await jest.advanceTimersByTimeAsync(1000);
    }
    expect(asked.size).toBe(topics.length);
  });
});
