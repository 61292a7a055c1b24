import {
  countPlaces,
  isDataName,
  MOST_NAMES,
  MOST_PLACES,
  type SeenField,
  SampleCollector,
  type SeenItems,
  seenIn,
  textOfSeen,
  typesOf,
} from '../../../../src/replication/schema/seen.js';

function seenOf(datas: unknown[], known?: SeenItems): SeenItems {
  const sample = new SampleCollector(known);
  for (const data of datas) sample.add(data);
  return sample.seen;
}

/** The types of each path, in short. */
function pathsOf({ data }: SeenItems): Record<string, string> {
  const paths: Record<string, string> = {};
  const walk = (path: string, place: SeenField) => {
    if (path !== '') paths[path] = typesOf(place).join(' ');
    for (const [name, field] of place.fields) walk(path === '' ? name : `${path}.${name}`, field);
    if (place.values !== undefined) walk(`${path}.*`, place.values);
    if (place.elements !== undefined) walk(`${path}[]`, place.elements);
  };
  walk('', data);
  return paths;
}

describe('the types are those of the JSON that items show', () => {
  it.each([
    [null, 'null'],
    [true, 'boolean'],
    [3, 'integer'],
    [9_007_199_254_740_992, 'integer'],
    [3.5, 'number'],
    ['2026-11-20T10:00:00.000Z', 'date-time'],
    ['2024-02-29T23:59:59.999Z', 'date-time'],
    ['2026-02-30T10:00:00.000Z', 'string'],
    ['2026-11-20T24:00:00.000Z', 'string'],
    ['2026-13-45T99:99:99.999Z', 'string'],
    ['2026-11-20', 'string'],
    ['2026-11-20T10:00:00Z', 'string'],
    ['', 'string'],
    [{}, 'object'],
    [[], 'array'],
  ])('%j is %s', (value, type) => {
    expect(pathsOf(seenOf([{ value }]))).toEqual({ value: type });
  });

  it('joins what one field has: a number may be whole, and a text may be a date', () => {
    const values = [1, 1.5, null, '2026-11-20T10:00:00.000Z', 'soon'];
    expect(pathsOf(seenOf(values.map((value) => ({ value }))))).toEqual({ value: 'null number string' });
  });

  it('leads through objects, lists and lists of lists', () => {
    const data = { rows: [{ price: 1 }, { price: 1.5, tags: ['a'] }], grid: [[1], [2, 'x']] };
    expect(pathsOf(seenOf([data]))).toEqual({
      ...{ rows: 'array', 'rows[]': 'object', 'rows[].price': 'number', 'rows[].tags': 'array' },
      ...{ 'rows[].tags[]': 'string', grid: 'array', 'grid[]': 'array', 'grid[][]': 'integer string' },
    });
  });

  it('counts a field once for each object that has it', () => {
    const { data, records } = seenOf([{ a: 1, rows: [{ b: 1 }, {}] }, { rows: [] }, {}]);
    expect(records).toBe(3);
    expect([data.fields.get('a')!.count, data.fields.get('rows')!.count]).toEqual([1, 2]);
    const elements = data.fields.get('rows')!.elements!;
    expect([elements.count, elements.fields.get('b')!.count]).toEqual([2, 1]);
  });

  it('takes names that mean something to JavaScript as names', () => {
    const data = JSON.parse('{"__proto__": 1, "constructor": "x", "toString": true, "a.b": 1}') as unknown;
    const seen = seenOf([data]);
    expect([...seen.data.fields.keys()]).toEqual(['__proto__', 'constructor', 'toString', 'a.b']);
    expect(seenIn(textOfSeen(seen))).toEqual(seen);
  });
});

describe('names that look like data are not kept', () => {
  it.each([
    ...['42', '2026-11-20', '4006381333931', '+49 30 1234', '', 'x'.repeat(65)],
    ...['507f1f77bcf86cd799439011', '9d87ba58-a750-451b-85d0-0d4ad5659a24', 'ada@example.org', 'a/b'],
  ])('such as "%s"', (name) => {
    expect(isDataName(name)).toBe(true);
    const seen = seenOf([{ byKey: { [name]: { price: 1 }, other: 'x' } }]);
    expect(pathsOf(seen)).toEqual({
      ...{ byKey: 'object', 'byKey.other': 'string', 'byKey.*': 'object', 'byKey.*.price': 'integer' },
    });
    if (name.length > 4) expect(textOfSeen(seen)).not.toContain(name);
  });

  it.each(['price', 'net price', 'Größe', 'price2', '_id', 'a.b', 'created-at', 'cafe', '$ref'])(
    'unlike "%s"',
    (name) => expect(isDataName(name)).toBe(false),
  );

  it(`and neither are those of an object with more than ${MOST_NAMES}, which is a map`, () => {
    const many = Array.from({ length: MOST_NAMES + 1 }, (_, index) => ({
      stock: { [`place ${index}x`]: index },
    }));
    const seen = seenOf(many);
    expect(pathsOf(seen)).toEqual({ stock: 'object', 'stock.*': 'integer' });
    expect(seen.data.fields.get('stock')!.values!.count).toBe(MOST_NAMES + 1);
    expect(textOfSeen(seen)).not.toContain('place 7x');
    expect(pathsOf(seenOf(many.slice(0, MOST_NAMES)))).toHaveProperty(['stock.place 7x']);
  });

  it('a map stays a map', () => {
    const known = seenOf(
      Array.from({ length: MOST_NAMES + 1 }, (_, index) => ({ stock: { [`p${index}`]: 1 } })),
    );
    expect(pathsOf(seenOf([{ stock: { p1: 1 } }], known))).toEqual({ stock: 'object', 'stock.*': 'integer' });
  });
});

describe('a schema is bounded', () => {
  it(`to ${MOST_PLACES} places: further fields are left out`, () => {
    const wide = (group: number) =>
      Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`g${group}f${index}`, 1]));
    const data = Object.fromEntries(Array.from({ length: 10 }, (_, group) => [`group${group}`, wide(group)]));
    const seen = seenOf([data]);
    expect(countPlaces(seen.data)).toBe(MOST_PLACES);
    expect(pathsOf(seen)).toHaveProperty(['group0.g0f149'], 'integer');
    expect(pathsOf(seen)).not.toHaveProperty(['group9.g9f149']);
  });

  it('and to ten levels, through objects and through lists', () => {
    const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) });
    expect(Object.keys(pathsOf(seenOf([deep(30)])))).toHaveLength(10);
    const lists = (levels: number): unknown => (levels === 0 ? 1 : [lists(levels - 1)]);
    expect(countPlaces(seenOf([{ a: lists(3000) }]).data)).toBeLessThan(20);
  });

  it('a map makes room again', () => {
    const map = Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`k${index}`, { v: 1 }]));
    const rest = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`f${index}`, 1]));
    const paths = pathsOf(seenOf([{ map, rest }]));
    expect(paths).toMatchObject({ 'map.*': 'object', 'map.*.v': 'integer', 'rest.f149': 'integer' });
  });
});

it('text of another program is no schema', () => {
  for (const text of [undefined, 7, '', '{', '{}', '{"data":{}}', '{"data":{"fields":[1]}}', 'null', '[]'])
    expect(seenIn(text)).toBeUndefined();
});

it.each([
  '{"data":{"count":1,"types":[],"fields":[]}}',
  '{"records":1,"data":{"fields":[]}}',
  '{"records":1,"data":{"count":1,"types":{},"fields":[]}}',
  '{"records":1,"data":{"count":1,"types":[["object",1]],"fields":[]}}',
  '{"records":1,"data":{"count":1,"types":[["object",null]],"fields":[]}}',
  '{"records":1,"data":{"count":1,"types":[],"fields":[[1,{"count":1,"types":[],"fields":[]}]]}}',
  ...['null', '1', '{}', '{"count":1,"types":[]}', '{"types":[],"fields":[]}'].flatMap((inner) => [
    `{"records":1,"data":{"count":1,"types":[],"fields":[["a",${inner}]]}}`,
    `{"records":1,"data":{"count":1,"types":[],"fields":[],"values":${inner}}}`,
    `{"records":1,"data":{"count":1,"types":[],"fields":[],"elements":${inner}}}`,
  ]),
])('neither is one in which a part is something else: %s', (text) => {
  expect(seenIn(text)).toBeUndefined();
});
