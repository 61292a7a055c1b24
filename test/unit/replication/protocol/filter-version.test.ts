import {
  type FilterVersionChange,
  type KnownVersion,
  reconciled,
  type WantedFilter,
  wantedOf,
} from '../../../../src/replication/protocol/index.js';

const [A, B] = [{ 'data.n': 1 }, { 'data.n': 2 }];
const on = (filter: object): WantedFilter => ({ state: 'on', filter });
const entry = (fields: Partial<FilterVersionChange>): FilterVersionChange => ({
  state: 'on',
  filter: A,
  pending: false,
  version: 7,
  ...fields,
});

describe('what a document of services asks for', () => {
  it.each<[string, Parameters<typeof wantedOf>[0], WantedFilter]>([
    ['nothing', undefined, { state: 'off' }],
    ['disabled', { filter: A, enabled: false }, { state: 'off' }],
    ['a filter', { filter: A }, on(A)],
    ['enabled', { filter: A, enabled: true }, on(A)],
    ['enabled by a text', { filter: A, enabled: 'true' }, { state: 'off' }],
    ['a filter that contract §4 refuses', { filter: { $where: 'true' } }, { state: 'invalid' }],
    ['no filter', { filter: undefined }, { state: 'invalid' }],
  ])('%s', (_name, service, wanted) => {
    expect(wantedOf(service)).toEqual(wanted);
  });
});

describe('filters take effect in one place', () => {
  const moved = { state: 'on', filter: B, previous: A, pending: true, version: 8 } as const;

  it.each<[string, KnownVersion | undefined, WantedFilter, FilterVersionChange | undefined]>([
    ['a name never served before moves nothing', undefined, on(A), entry({ version: 1 })],
    ['one never served and off is nothing', undefined, { state: 'off' }, undefined],
    [
      'one never served may be invalid',
      undefined,
      { state: 'invalid' },
      { state: 'invalid', pending: false, version: 1 },
    ],
    [
      'its first valid filter moves nothing either',
      { state: 'invalid', pending: false, version: 1 },
      on(A),
      entry({ version: 2 }),
    ],
    ['the same filter changes nothing', entry({}), on({ ...A }), undefined],
    ['another filter: what the two judge differently is pending', entry({}), on(B), moved],
    [
      'removed or disabled: it keeps its last filter',
      entry({}),
      { state: 'off' },
      entry({ state: 'off', version: 8 }),
    ],
    ['made invalid: likewise', entry({}), { state: 'invalid' }, entry({ state: 'invalid', version: 8 })],
    ['back with the same filter: nothing moves', entry({ state: 'off' }), on(A), entry({ version: 8 })],
    ['back with another: the difference is pending', entry({ state: 'off' }), on(B), moved],
    ['repaired with another: likewise', entry({ state: 'invalid' }), on(B), moved],
    [
      'in place of one that is too large to be read: everything is pending',
      { state: 'invalid', pending: false, version: 7, isUnreadable: true },
      on(B),
      { state: 'on', filter: B, pending: true, version: 8 },
    ],
    [
      'one that is too large, made invalid: it is left as it is',
      { state: 'on', pending: false, version: 7, isUnreadable: true },
      { state: 'invalid' },
      { state: 'invalid', pending: false, version: 8 },
    ],
    ['off stays off', entry({ state: 'off' }), { state: 'off' }, undefined],
    [
      'invalid, then removed',
      entry({ state: 'invalid' }),
      { state: 'off' },
      entry({ state: 'off', version: 8 }),
    ],
  ])('%s', (_name, before, wanted, after) => {
    expect(reconciled(before, wanted)).toEqual(after);
  });
});
