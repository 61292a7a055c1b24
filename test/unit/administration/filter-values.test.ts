import { filterJson, filterOfJson, parseFilter } from '../../../src/administration/filter-text.js';

const MOST_TIMESTAMP = { $timestamp: { t: 4294967295, i: 4294967295 } };
const DATE = '2027-01-31T18:00:00';
const UUID = '9f1c2d3e-4b5a-6978-8796-a5b4c3d2e1f0';

/** Values that are out of range, or are not what their key says, by key. */
const WRONG: Record<string, unknown[]> = {
  $timestamp: [
    ...[
      { t: 4294967296, i: 1 },
      { t: 1, i: 4294967296 },
      { t: -1, i: 1 },
      { t: 1.5, i: 1 },
      { t: '1', i: 1 },
    ],
    ...[{ t: 1 }, { t: 1, i: 2, x: 3 }, { t: null, i: 2 }, { t: true, i: 2 }, [1, 2], 5, '7', null],
  ],
  $date: [
    ...[
      'yesterday',
      '5',
      'Jan 5 2027',
      '2027-02-30T00:00:00Z',
      '2027-13-01T00:00:00Z',
      DATE,
      `${DATE}+99:00`,
    ],
    ...[
      `${DATE}.1234567Z`,
      '99999-01-01T00:00:00Z',
      '',
      5,
      1.5,
      null,
      true,
      {},
      [DATE],
      { $date: `${DATE}Z` },
    ],
    ...[{ $numberLong: '8640000000000001' }, { $numberLong: '9223372036854775808' }, { $numberLong: '5.5' }],
    ...[{ $numberInt: '5' }, { $numberLong: '5', x: 1 }],
  ],
  $numberLong: [
    '9223372036854775808',
    '-9223372036854775809',
    '5.5',
    ' 5',
    '05',
    '',
    '1e3',
    5,
    null,
    true,
    {},
  ],
  $numberInt: ['2147483648', '-2147483649', '5.5', '-0', '', 'NaN', 5.5, 4294967296, null, [5]],
  $numberDouble: ['1e400', 'abc', '', '0x10', ' 5 ', '5.', '.5', 'Infinityx', null, true, [5]],
  $numberDecimal: [
    '1e6200',
    '1e-7000',
    'abc',
    '',
    ' 5',
    '12345678901234567890123456789012345',
    5,
    null,
    true,
  ],
  $oid: [
    'x',
    '',
    'abcdefabcdef',
    '6b0135868b2d4656a43aaa0',
    5,
    null,
    ['6b0135868b2d4656a43aaa06'],
    { $oid: 'x' },
  ],
  $uuid: ['x', '', '9f1c2d3e-4b5a-6978-8796-a5b4c3d2e1f', `{${UUID}}`, 5, null],
  $binary: [
    ...[
      { base64: '!!', subType: '00' },
      { base64: 'YQ', subType: '00' },
      { base64: 'YR==', subType: '00' },
    ],
    ...[{ base64: 'YQ==', subType: '100' }, { base64: 'YQ==', subType: 'zz' }, { base64: 'YQ==' }, 'YQ=='],
    ...[{ base64: 'YQ==', subType: '04' }, { base64: 5, subType: '00' }, null],
  ],
  $regularExpression: [
    ...[
      'a',
      null,
      { pattern: 5, options: '' },
      { pattern: 'a', options: 'q' },
      { pattern: 'a\0b', options: '' },
    ],
    ...[{ pattern: 'a', options: 5 }, { options: 'i' }, { pattern: 'a', options: '', x: 1 }],
  ],
  $minKey: [5, 0, true, null, '1'],
  $maxKey: [5, 0, true, null, '1'],
};

const wrong = Object.entries(WRONG).flatMap(([key, values]) => values.map((value) => ({ [key]: value })));

describe('a value of extended JSON in a filter', () => {
  it.each(wrong.map((value) => [JSON.stringify(value), value] as const))(
    'that is not one is refused by its field, and never read as another: %s',
    (_text, value) => {
      const key = Object.keys(value)[0]!;
      const sentence = `"${key}" takes `;
      for (const [place, filter] of [
        ['data.f', { 'data.f': value }],
        ['$or[1].data.f.$in[0]', { $or: [{ a: 1 }, { 'data.f': { $in: [value, 5] } }] }],
      ] as const) {
        const refusal = new RegExp(`^The filter is not valid\\. .*; ${place.replace(/\W/g, '\\$&')} has \\{`);
        expect(() => filterOfJson(filter)).toThrow(refusal);
        expect(() => parseFilter(JSON.stringify(filter))).toThrow(sentence);
      }
    },
  );

  it.each([
    ...[{ $timestamp: { t: 1700000000, i: 1 } }, { $timestamp: { t: 0, i: 0 } }, MOST_TIMESTAMP],
    ...[{ $date: `${DATE}Z` }, { $date: `${DATE}.120Z` }, { $date: { $numberLong: '253402300800000' } }],
    ...[{ $date: { $numberLong: '-8640000000000000' } }, { $numberLong: '9223372036854775807' }],
    ...[{ $numberDecimal: '1.50' }, { $numberDecimal: 'NaN' }, { $numberDouble: '-Infinity' }],
    ...[{ $oid: '6b0135868b2d4656a43aaa06' }, { $binary: { base64: 'YQ==', subType: '09' } }, { $minKey: 1 }],
    { $regularExpression: { pattern: '^a', options: 'ix' } },
  ])('is shown as it was read: %j', (value) => {
    expect(JSON.parse(JSON.stringify(filterJson(filterOfJson({ a: value }))))).toEqual({ a: value });
  });

  it.each<[object, unknown]>([
    [{ $date: '2027-01-31' }, { $date: '2027-01-31T00:00:00Z' }],
    [{ $date: '2027-01-31T19:00:00+01:00' }, { $date: `${DATE}Z` }],
    [{ $date: `${DATE}.120000Z` }, { $date: `${DATE}.120Z` }],
    [{ $uuid: UUID }, { $binary: { base64: 'nxwtPktaaXiHlqW0w9Lh8A==', subType: '04' } }],
    [{ $oid: '6B0135868B2D4656A43AAA06' }, { $oid: '6b0135868b2d4656a43aaa06' }],
    [{ $numberInt: 5 }, 5],
    [{ $numberDouble: '1e3' }, 1000],
    [{ $regularExpression: { pattern: 'a' } }, { $regularExpression: { pattern: 'a', options: '' } }],
  ])('may be written in another way: %j', (value, shown) => {
    expect(JSON.parse(JSON.stringify(filterJson(filterOfJson({ a: value }))))).toEqual({ a: shown });
  });

  it('is not one if it has more than its key', () => {
    const filter = { a: { $date: `${DATE}Z`, $eq: 5 } };
    expect(JSON.stringify(filterOfJson(filter))).toBe(JSON.stringify(filter));
  });

  it('names the number that has too many digits, and its field', () => {
    expect(() => parseFilter('{"a": {"$in": [1, 9007199254740993]}}')).toThrow(
      'The filter is not valid. a.$in[1] has 9007199254740992, more digits than a JSON number keeps.',
    );
  });
});
