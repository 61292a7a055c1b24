import { UnwatchedFeeds } from '../../../../src/replication/store/progress-reader.js';

let feeds: UnwatchedFeeds;
let now = 0;
beforeEach(() => {
  feeds = new UnwatchedFeeds();
  jest.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => jest.restoreAllMocks());

function refusedAt(...seconds: number[]): void {
  for (const second of seconds) {
    now = second * 1000;
    feeds.refused();
  }
}

it('feeds that were refused for 30 s, and never served, were refused for too long', () => {
  refusedAt(100, 110, 129);
  expect([feeds.seconds, feeds.isTooLong]).toEqual([29, false]);
  refusedAt(130);
  expect([feeds.seconds, feeds.isTooLong]).toEqual([30, true]);
});

it('one that is served begins anew', () => {
  refusedAt(100, 115, 130);
  feeds.served();
  expect([feeds.seconds, feeds.isTooLong]).toEqual([0, false]);
  refusedAt(131, 140);
  expect(feeds.seconds).toBe(9);
});

it('where none was asked for in the last 30 s, nothing is known', () => {
  refusedAt(100, 115, 130);
  now = 160_000;
  expect([feeds.seconds, feeds.isTooLong]).toEqual([0, false]);
  refusedAt(161, 170);
  expect(feeds.seconds).toBe(9);
});
