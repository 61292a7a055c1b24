import mongoose, { type mongo } from 'mongoose';
import { NO_TERM, TermLife } from '../../../../src/replication/store/term-life.js';
import { walk } from '../../../../src/replication/store/walk.js';

const { MongoServerError, ObjectId } = mongoose.mongo;
const TIMEOUT = 50;
const TOO_LARGE = 10334;
const NO_UNIQUE_INDEX = 51183;

const idOf = (number: number) => new ObjectId(number.toString(16).padStart(24, '0'));
const numberOf = (id: mongo.ObjectId | undefined) =>
  id === undefined ? 0 : Number.parseInt(id.toHexString(), 16);
const refused = (code: number) => new MongoServerError({ message: `refused ${code}`, code });

/** Walks over documents 1 to `size`; `refuse` answers what the server has against working at some of them. */
async function walked(
  size: number,
  refuse: (from: number, to: number) => Error | undefined,
  { from = 0, stop = new AbortController(), term = NO_TERM } = {},
) {
  const done: [number, number][] = [];
  const left: number[] = [];
  let advanced = 0;
  await walk(from === 0 ? undefined : idOf(from), {
    next: (behind, most) => {
      const count = Math.min(most, size - numberOf(behind));
      return Promise.resolve(
        count === 0 ? undefined : { behind, end: idOf(numberOf(behind) + count), count },
      );
    },
    work: ({ behind, end }) => {
      const error = refuse(numberOf(behind) + 1, numberOf(end));
      if (error !== undefined) return Promise.reject(error);
      done.push([numberOf(behind) + 1, numberOf(end)]);
      return Promise.resolve();
    },
    advance: ({ count }) => Promise.resolve(void (advanced += count)),
    leave: ({ end }) => Promise.resolve(void left.push(numberOf(end))),
    stop: stop.signal,
    term,
  });
  return { done, left, advanced };
}

describe('a walk over everything, stretch by stretch', () => {
  it('goes to the end in long stretches, from behind any document', async () => {
    const { done, advanced } = await walked(50_000, () => undefined, { from: 5000 });
    expect(done).toEqual([
      [5001, 25_000],
      [25_001, 45_000],
      [45_001, 50_000],
    ]);
    expect(advanced).toBe(45_000);
  });

  it('halves a stretch that takes too long, and grows again behind it', async () => {
    const tooLong = (from: number, to: number) =>
      to - from >= 6000 && from === 1 ? refused(TIMEOUT) : undefined;
    const { done, left } = await walked(30_000, tooLong);
    expect(done).toEqual([
      [1, 5000],
      [5001, 15_000],
      [15_001, 30_000],
    ]);
    expect(left).toEqual([]);
  });

  it('leaves one document that the server refuses, and nothing else', async () => {
    const odd = (from: number, to: number) => (from <= 777 && to >= 777 ? refused(TOO_LARGE) : undefined);
    const { done, left, advanced } = await walked(3000, odd);
    expect(left).toEqual([777]);
    expect(done.reduce((sum, [from, to]) => sum + to - from + 1, 0)).toBe(2999);
    expect(advanced).toBe(3000);
  });

  it.each([
    ['where one document alone takes too long', refused(TIMEOUT)],
    ['where the index of the ledger is gone', refused(NO_UNIQUE_INDEX)],
    ['where the connection breaks', new mongoose.mongo.MongoNetworkError('gone')],
    ['where all documents are refused', refused(TOO_LARGE)],
  ])('ends with the error %s', async (_name, error) => {
    await expect(walked(3000, () => error)).rejects.toBe(error);
  });

  it('ends when it is stopped', async () => {
    const stop = new AbortController();
    const { done, advanced } = await walked(50_000, () => void stop.abort(), { stop });
    expect([done, advanced]).toEqual([[[1, 20_000]], 0]);
  });

  it('shows life after each try, so that a stretch may be halved many times before it succeeds', async () => {
    jest.useFakeTimers();
    const life = new TermLife();
    const silences: number[] = [];
    const slow = (from: number, to: number) => {
      silences.push(life.silence);
      jest.advanceTimersByTime(10_000);
      return to - from >= 100 && from === 1 ? refused(TIMEOUT) : undefined;
    };
    await walked(2000, slow, { term: life });
    jest.useRealTimers();
    expect(silences.length).toBeGreaterThan(5);
    expect(silences.every((silence) => silence === 0)).toBe(true);
  });
});
