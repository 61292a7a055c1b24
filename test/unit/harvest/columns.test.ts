import type { JsonSchema } from '../../../client/src/index.js';
import { parseExactly } from '../../../client/src/parse-exactly.js';
import { columnText } from '../../../client/src/stores/column-values.js';
import { type ColumnType, fieldsIn, newColumns, quotedColumn } from '../../../client/src/stores/columns.js';

const schemaOf = (properties: Record<string, JsonSchema>) => ({
  properties: { data: { type: 'object', properties } },
});

describe('the fields that get a column', () => {
  it('are those with a value, each with its type', () => {
    const properties = {
      ...{ a: { type: 'integer' }, b: { type: 'number' }, c: { type: 'boolean' }, d: { type: 'string' } },
      e: { type: ['null', 'string'], format: 'date-time' },
      ...{
        f: { type: ['integer', 'string'] },
        g: { type: 'array' },
        h: { type: 'object' },
        i: { type: 'null' },
      },
      j: {
        type: ['null', 'object'],
        properties: { k: { type: 'string' }, l: { type: 'object', properties: {} } },
      },
      m: { type: 'object', additionalProperties: { type: 'string' } },
      n: { type: ['object', 'string'], properties: { o: { type: 'string' } } },
      'half\ud83d': { type: 'string' },
    };
    expect(fieldsIn(schemaOf(properties))).toEqual([
      { path: ['a'], type: 'integer' },
      { path: ['b'], type: 'number' },
      { path: ['c'], type: 'boolean' },
      { path: ['d'], type: 'text' },
      { path: ['e'], type: 'timestamp' },
      ...['f', 'g', 'h'].map((name) => ({ path: [name], type: 'json' })),
      { path: ['j', 'k'], type: 'text' },
      ...['m', 'n'].map((name) => ({ path: [name], type: 'json' })),
    ]);
    expect(fieldsIn({})).toEqual([]);
  });
});

describe('the names of columns', () => {
  const named = (paths: string[][], existing: string[] = []) =>
    newColumns(
      paths.map((path) => ({ path, type: 'text' })),
      [],
      existing,
    ).map(({ name }) => name);

  it('are those of the path, unique without case, also beside what the table has', () => {
    expect(named([['price'], ['address', 'city'], ['address_city'], ['Price'], ['id'], ['ctid']])).toEqual([
      ...['price', 'address_city', 'address_city_2', 'Price_2', 'id_2', 'ctid_2'],
    ]);
    expect(named([['own'], ['own_2']], ['OWN'])).toEqual(['own_2', 'own_2_2']);
  });

  it('have 63 bytes at most, whole letters and no control characters', () => {
    const [first, second] = named([['ü'.repeat(40)], [`${'ü'.repeat(40)}x`]]);
    expect(first).toBe('ü'.repeat(31));
    expect(second).toBe(`${'ü'.repeat(28)}_2`);
    expect(named([['a\nb\u0000']])).toEqual(['a_b_']);
    expect(quotedColumn('a"b')).toBe('"a""b"');
  });

  it('are 320 at most, and those that there are stay', () => {
    const paths = Array.from({ length: 500 }, (_, index) => [`f${index}`]);
    expect(named(paths)).toHaveLength(320);
    const known = [{ path: ['f1'], type: 'text' as const, name: 'mine' }];
    const added = newColumns(
      paths.map((path) => ({ path, type: 'text' })),
      known,
      ['mine'],
    );
    expect(added).toHaveLength(319);
    expect(added.map(({ path }) => path)).not.toContainEqual(['f1']);
  });
});

describe('the value of a column is that of the field where it fits, and null everywhere else', () => {
  it.each<[ColumnType, string, string | null]>([
    ['integer', '3', '3'],
    ['integer', '-0', '0'],
    ['integer', '9223372036854775807', '9223372036854775807'],
    ['integer', '9223372036854775808', null],
    ['integer', '1e300', null],
    ['integer', '1.5', null],
    ['integer', '"3"', null],
    ['number', '1.5', '1.5'],
    ['number', '1e999', null],
    ['number', '5e-324', '5e-324'],
    ['number', 'true', null],
    ['boolean', 'false', 'false'],
    ['boolean', '0', null],
    ['timestamp', '"2026-11-20T10:00:00.000Z"', '2026-11-20T10:00:00.000Z'],
    ['timestamp', '"2026-13-20T10:00:00.000Z"', null],
    ['timestamp', '"2026-02-30T10:00:00.000Z"', null],
    ['timestamp', '"0000-01-01T00:00:00.000Z"', null],
    ['timestamp', '"2026"', null],
    ['text', '"ü"', 'ü'],
    ['text', '"a\\u0000b"', null],
    ['text', '"\\ud83d"', null],
    ['text', '{}', null],
    ['json', '{"a": [1]}', '{"a":[1]}'],
    ['json', '"x"', '"x"'],
    ['json', 'null', null],
  ])('%s of %s is %s', (type, json, text) => {
    const data = parseExactly(`{"a": {"b": ${json}}}`);
    // Node 20 rounds numbers that no double holds.
    if (/\d{16}/.test(json) && !('rawJSON' in JSON))
      return expect(columnText(data, { path: ['a'], type: 'json' })).toMatch(/\d/);
    expect(columnText(data, { path: ['a', 'b'], type })).toBe(text);
  });

  it.each(['{}', '{"a": null}', '{"a": 1}', '{"a": []}', '{"a": {}}'])('of %s', (json) => {
    expect(columnText(JSON.parse(json), { path: ['a', 'toString'], type: 'json' })).toBeNull();
  });
});
