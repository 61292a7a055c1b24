import {
  type Pace,
  restInWords,
  retryAfter,
  secondsLeft,
  secondsToPresent,
  shareDone,
  shareKnown,
} from '../../../../src/replication/protocol/index.js';

const pace = (done: number, added = 0, seconds = 10): Pace => ({ seconds, done, added });

describe('what is left of work, in seconds', () => {
  it.each<[string, number, number, Pace, number | undefined]>([
    ['a pass, of which nothing is added', 1000, 5000, pace(500), 80],
    ['an application that gets fewer events than are worked through', 1000, 5000, pace(500, 100), 100],
    ['one that gets as many', 1000, 5000, pace(500, 500), undefined],
    ['one that gets more', 1000, 5000, pace(500, 501), undefined],
    ['work that made no progress', 1000, 5000, pace(0), undefined],
    ['work that is done', 5000, 5000, pace(500), 0],
    ['work that is done, of late too slowly', 5000, 5000, pace(0, 10), 0],
    ['work of which too little was seen', 1000, 5000, pace(500, 0, 1.9), undefined],
    ['a part of a second', 4999, 5000, pace(500), 1],
    ['a log that is read three times as fast as it is written', 40, 100, pace(30, 10), 30],
    ['work that exceeds its total, which is an estimate', 5001, 5000, pace(500), undefined],
  ])('%s', (_of, done, total, of, seconds) => {
    expect(secondsLeft({ done, total, pace: of })).toBe(seconds);
  });

  it('is not known before the work was seen twice', () => {
    expect(secondsLeft({ done: 1, total: 2 })).toBeUndefined();
    expect(secondsToPresent({ done: 1, total: 2 })).toBeUndefined();
  });

  it.each<[string, object]>([
    ['a text in place of what is done', { done: '1', total: 2, pace: pace(1) }],
    ['no total', { done: 1, pace: pace(1) }],
    ['a number below 0', { done: -1, total: 2, pace: pace(1) }],
    ['infinity', { done: 1, total: Infinity, pace: pace(1) }],
    ['a text in place of the pace', { done: 1, total: 2, pace: 'fast' }],
    ['null in place of the pace', { done: 1, total: 2, pace: null }],
    ['a date within the pace', { done: 1, total: 2, pace: { ...pace(1), seconds: new Date() } }],
    ['what would take longer than a number can say', { done: 1, total: 1e308, pace: pace(1e-9) }],
  ])('nor where somebody else has stored %s', (_what, work) => {
    expect([secondsLeft(work), secondsToPresent(work)]).toEqual([undefined, undefined]);
  });
});

describe('what a page waits for, in seconds', () => {
  it.each<[string, Pace, number | undefined]>([
    ['what was added since does not count', pace(500, 100), 80],
    ['also where more is added than is done', pace(500, 5000), 80],
    ['nothing is told where nothing is done', pace(0, 5000), undefined],
  ])('%s', (_what, of, seconds) => {
    expect(secondsToPresent({ done: 1000, total: 5000, pace: of })).toBe(seconds);
  });
});

describe('`Retry-After`', () => {
  const waiting = (seconds: number, of = pace(100, 0, 100)) => ({ done: 0, total: seconds, pace: of });

  it.each([
    [0, 1],
    [1, 1],
    [3, 1],
    [4, 2],
    [41, 20],
    [61, 30],
    [86_400, 30],
  ])('for a wait of %d s is %d s: a half, at least 1 and at most 30', (seconds, after) => {
    expect(retryAfter(waiting(seconds))).toBe(after);
  });

  it('is no longer than the work was seen', () => {
    expect(retryAfter(waiting(1000, pace(2, 0, 2)))).toBe(2);
    expect(retryAfter(waiting(1000, pace(12.7, 0, 12.7)))).toBe(12);
  });

  it('is left to the problem where nothing is known', () => {
    expect(retryAfter({ done: 1, total: 2 })).toBeUndefined();
  });

  it('a consumer that obeys it comes a second late at most, after few requests', () => {
    for (let wait = 0; wait <= 60; wait += 1) {
      let [now, requests] = [0, 1];
      for (; now < wait; requests += 1) now += retryAfter(waiting(wait - now))!;
      expect(now - wait).toBeLessThanOrEqual(1);
      expect(requests).toBeLessThanOrEqual(2 + Math.ceil(Math.log2(wait + 2)));
    }
  });
});

it.each([
  [0, 0, 0],
  [1, 4, 0.25],
  [4, 4, 1],
  [7, 4, 1],
])('%d of about %d is a share of %d', (done, total, share) => {
  expect(shareDone({ done, total })).toBe(share);
});

it.each<[unknown, unknown, number | undefined]>([
  [1, 4, 0.25],
  ['1', 4, undefined],
  [1, undefined, undefined],
])('what is stored as %p of %p is a share of %p', (done, total, share) => {
  expect(shareKnown({ done, total })).toBe(share);
});

it.each<[number | undefined, number | undefined, string | undefined]>([
  [0.459, 40, '45 % done, about 40 s left'],
  [0.5, undefined, '50 % done'],
  [undefined, 100, 'about 2 min left'],
  [undefined, 4000, 'about 1 h 7 min left'],
  [undefined, undefined, undefined],
])('a share of %p and a rest of %p s is told as %p', (share, seconds, text) => {
  expect(restInWords(share, seconds)).toBe(text);
});
