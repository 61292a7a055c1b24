import { endModeOf, clockReaches, patienceOf } from '../../../../../src/replication/feed/page/page-moment.js';

const NOW = 1_000_000;
const clock = new Date(NOW);
const ahead = (ms: number) => new Date(NOW + ms);
const asked = (ms: number, isFirst = true, fence?: Date) => ({ to: ahead(ms), clock, fence, isFirst });

describe('what a page does about its to', () => {
  it.each([
    [-1, true, 'reached'],
    [0, false, 'reached'],
    [1, true, 'awaited'],
    [2000, false, 'awaited'],
    [2001, true, 'clock'],
    [2001, false, 'refused'],
  ])('%i ms ahead with a MARK_WAIT of 2000, first: %s: %s', (ms, isFirst, aim) => {
    expect(endModeOf(asked(ms, isFirst), 2000)).toBe(aim);
  });

  it('what was announced is reached, however slow the clock is after a fail-over', () => {
    expect(endModeOf(asked(90_000, false, ahead(90_000)), 2000)).toBe('reached');
    expect(endModeOf(asked(90_001, false, ahead(90_000)), 2000)).toBe('refused');
  });

  it('5 s is the most that is waited for, however long MARK_WAIT is', () => {
    expect(endModeOf(asked(5000), 60_000)).toBe('awaited');
    expect(endModeOf(asked(5001), 60_000)).toBe('clock');
  });
});

describe('for how long a page waits for clock and watcher', () => {
  it.each([
    [2000, 0, 2000],
    [2000, -90_000, 2000],
    [2000, 1500, 3500],
    [5000, 5000, 9000],
    [60_000, 5000, 60_000],
  ])('MARK_WAIT %i, %i ms ahead: %i ms', (markWait, ms, patience) => {
    expect(patienceOf(asked(ms), markWait)).toBe(patience);
  });
});

it('a clock that is there is not waited for, nor one that would come behind the deadline', async () => {
  await clockReaches(ahead(0), clock, performance.now() + 60_000);
  await clockReaches(ahead(60_000), clock, performance.now());
});
