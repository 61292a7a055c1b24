import { fenceAfterRaise, fenceIn, markKey, markName } from '../../../../src/replication/protocol/index.js';

const MARK = { organizationid: 'acme', appid: 'shop', kind: 'product' as const };

describe('an announcement tells fence and number of the raise', () => {
  it('the fence', () => {
    expect(fenceIn('2026-11-20T10:00:00.123Z 17')).toEqual(new Date('2026-11-20T10:00:00.123Z'));
  });

  it.each([undefined, null, '', 'soon 1', 17, {}])('%j is none', (announced) => {
    expect(fenceIn(announced)).toBeUndefined();
  });
});

describe('a raise announces', () => {
  const clock = new Date('2026-11-20T10:00:00.000Z');
  const after = (ms: number) => new Date(clock.getTime() + ms);
  it.each([
    ['the clock, at first', undefined, 0],
    ['the clock, where that is above the fence', after(-5), 0],
    ['1 ms above the fence, where the clock has not moved', after(0), 1],
    ['1 ms above the fence, where the clock was set back', after(700), 701],
    ['0.9 s ahead of the clock at most', after(900), 900],
    ['the fence itself, where that is further ahead', after(60_000), 60_000],
  ])('%s', (_what, fence, ms) => {
    expect(fenceAfterRaise(fence, clock)).toEqual(after(ms));
  });
});

it('a mark is one for each organization, application and kind', () => {
  const others = [
    { ...MARK, kind: 'member' as const },
    { ...MARK, appid: 'erp' },
    { ...MARK, organizationid: 'other' },
    { ...MARK, organizationid: 'acme","shop' },
  ];
  const names = [MARK, ...others].map(markName);
  expect(new Set(names).size).toBe(names.length);
});

it('the key is stored in one order, whatever the order in which it came', () => {
  const { organizationid, appid, kind } = MARK;
  expect(Object.keys(markKey({ kind, appid, organizationid }))).toEqual(Object.keys(MARK));
});
