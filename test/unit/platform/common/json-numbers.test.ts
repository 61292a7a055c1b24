import { isKept, lostNumber } from '../../../../src/platform/common/json-numbers.js';

describe('a number keeps what was written', () => {
  it.each([
    ...[
      '0',
      '-0',
      '0.0',
      '0e99999',
      '5',
      '-5',
      '1.5',
      '0.1',
      '1e3',
      '1E+3',
      '100e-2',
      '1.0',
      '0.10000000000000001',
    ],
    ...[
      '9007199254740991',
      '9007199254740992',
      '100000000000000000000',
      '1e23',
      '1e300',
      '1.7976931348623157e308',
    ],
    ...['5e-324', '0.30000000000000004', '3.14159265358979323846'],
  ])('%s', (written) => {
    expect(isKept(written)).toBe(true);
  });

  it.each([
    ...['1e999', '-1e999', '1e-999', '0.0000001e-320', '9007199254740993', '-9007199254740993'],
    ...['12345678901234567890123', '0.99999999999999999999', '2.0000000000000001', '9007199254740992.5'],
    ...[`1${'0'.repeat(400)}`, '1234567890123456789e3'],
  ])('%s does not', (written) => {
    expect(isKept(written)).toBe(false);
  });
});

describe('the first number that is lost', () => {
  it.each<[string, string, string]>([
    ['{"filter": {"data.price": {"$lt": 1e999}}}', '/filter/data.price/$lt', '1e999'],
    ['{"a": [1, {"b": "1e999"}, {"c/~": [2, -1e400]}]}', '/a/2/c~1~0/1', '-1e400'],
    ['{"a": {"x": 1}, "\\u0062": 9007199254740993}', '/b', '9007199254740993'],
    ['{"a\\"]": {}, "b": [], "c": 1e-400 }', '/c', '1e-400'],
    ['1e999', '', '1e999'],
  ])('of %s stands at %s', (json, pointer, written) => {
    expect(lostNumber(json)).toEqual({ pointer, written });
  });

  it('is none where a text looks like one', () => {
    expect(lostNumber('{"a": "1e999", "1e999": [true, null, 1, "\\\\", "\\"1e999"]}')).toBeUndefined();
    expect(lostNumber(JSON.stringify({ text: '"1e999\\'.repeat(1_000_000) }))).toBeUndefined();
  });
});
