import { fenceIn, markKey, markName } from '../../../../src/replication/mark/index.js';

const MARK = { organizationid: 'acme', appid: 'shop', kind: 'product' as const };

describe('an announcement tells fence and number of the raise', () => {
  it('the fence', () => {
    expect(fenceIn('2026-11-20T10:00:00.123Z 17')).toEqual(new Date('2026-11-20T10:00:00.123Z'));
  });

  it.each([undefined, null, '', 'soon 1', 17, {}])('%j is none', (announced) => {
    expect(fenceIn(announced)).toBeUndefined();
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
