import mongoose from 'mongoose';
import type { Kind } from '../../src/kinds/index.js';
import { type TestApplication, TestService, WARE } from '../support/index.js';

const { mongo } = mongoose;

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.withWares();
});
afterAll(() => service.stop());
beforeEach(async () => {
  app = await service.application();
});

/** The JSON text that the feed of a kind shows of stored data. */
async function textOfData(kind: Kind, data: unknown): Promise<string> {
  await app.put(kind, { data });
  const { text } = await app.feed(kind).ask();
  return /"data":(.*?)(?:,"channels":\[\])?\}\],"nextoffsetid"/s.exec(text)?.[1] ?? text;
}

describe.each<Kind>(['product', WARE])('BSON in data becomes JSON: %s', (kind) => {
  const dataText = (data: unknown) => textOfData(kind, data);
  const bytes = Buffer.from([0, 1, 250, 255]);

  it.each<[string, unknown, string]>([
    ['dates ISO', new Date('2024-02-29T01:02:03.004Z'), '"2024-02-29T01:02:03.004Z"'],
    ['dates before 1970', new Date(-1), '"1969-12-31T23:59:59.999Z"'],
    ['ObjectId hex', new mongo.ObjectId('6740a1b2c3d4e5f601234567'), '"6740a1b2c3d4e5f601234567"'],
    ['Decimal128 a string', mongo.Decimal128.fromString('0.10'), '"0.10"'],
    ['Decimal128 of 34 digits', mongo.Decimal128.fromString('1'.repeat(34)), `"${'1'.repeat(34)}"`],
    ['Decimal128 NaN', mongo.Decimal128.fromString('NaN'), '"NaN"'],
    ['64-bit integers all their digits', mongo.Long.fromString('9007199254740993'), '9007199254740993'],
    ['the greatest', mongo.Long.MAX_VALUE, '9223372036854775807'],
    ['the least', mongo.Long.MIN_VALUE, '-9223372036854775808'],
    ['a small one', mongo.Long.fromNumber(5), '5'],
    ['NaN null', NaN, 'null'],
    ['infinities null', [Infinity, -Infinity], '[null,null]'],
    ['binary base64', new mongo.Binary(bytes), '"AAH6/w=="'],
    ['binary of any subtype', new mongo.Binary(bytes, 0x80), '"AAH6/w=="'],
    ['a UUID', new mongo.UUID('00112233-4455-6677-8899-aabbccddeeff'), '"ABEiM0RVZneImaq7zN3u/w=="'],
    ['an empty binary', new mongo.Binary(Buffer.alloc(0)), '""'],
  ])('%s', async (_name, stored, text) => {
    expect(await dataText({ value: stored })).toBe(`{"value":${text}}`);
  });

  it.each<[string, unknown, string]>([
    ['integers', [0, -1, 2147483647, -2147483648], '[0,-1,2147483647,-2147483648]'],
    ['doubles', [0.1, -2.5, 1e21, 5e-324, 123456789.125], '[0.1,-2.5,1e+21,5e-324,123456789.125]'],
    ['a whole double', new mongo.Double(3), '3'],
    ['booleans and null', [true, false, null], '[true,false,null]'],
    [
      'texts',
      ['', 'ü€😀', '"\\/\n\t\u0000\u2028', '</script>'],
      '["","ü€😀","\\"\\\\/\\n\\t\\u0000\u2028","</script>"]',
    ],
    ['nested', { a: [{ b: [[], {}] }] }, '{"a":[{"b":[[],{}]}]}'],
    ['a regular expression', new mongo.BSONRegExp('^a"b', 'i'), '"/^a\\"b/i"'],
    ['code', new mongo.Code('return 1'), '"return 1"'],
    ['a timestamp', new mongo.Timestamp({ t: 1, i: 2 }), '"4294967298"'],
    ['smallest and greatest key', [new mongo.MinKey(), new mongo.MaxKey()], '[null,null]'],
  ])('what the contract leaves open is JSON too: %s', async (_name, stored, text) => {
    expect(await dataText({ value: stored })).toBe(`{"value":${text}}`);
  });

  it('in arrays and documents of any depth', async () => {
    const deep = { list: [{ at: new Date(0), n: [mongo.Long.MAX_VALUE, NaN] }], by: new Map([['x', bytes]]) };
    expect(await dataText(deep)).toBe(
      '{"list":[{"at":"1970-01-01T00:00:00.000Z","n":[9223372036854775807,null]}],"by":{"x":"AAH6/w=="}}',
    );
  });
});

describe("an item's data is the stored data key for key", () => {
  it.each<[string, [string, unknown][]]>([
    [
      '__proto__',
      [
        ['__proto__', { polluted: true }],
        ['a', 1],
      ],
    ],
    [
      'constructor and the like',
      [
        ['constructor', 1],
        ['prototype', 2],
        ['toString', 3],
        ['hasOwnProperty', 4],
      ],
    ],
    [
      '_bsontype',
      [
        ['_bsontype', 'ObjectId'],
        ['id', 'x'],
      ],
    ],
    [
      '_bsontype of every class',
      [
        ['_bsontype', 'Decimal128'],
        ['bytes', 'x'],
      ],
    ],
    [
      'toJSON',
      [
        ['toJSON', 'x'],
        ['toBSON', 'y'],
      ],
    ],
    [
      'dots and dollars',
      [
        ['a.b', 1],
        ['$set', 2],
        ['price$', 3],
        ['$', 4],
        ['.', 5],
      ],
    ],
    ['the empty key', [['', 1]]],
    [
      'keys to escape',
      [
        ['"', 1],
        ['\\', 2],
        ['\n', 3],
        ['ü€😀', 4],
        [' ', 5],
      ],
    ],
    [
      'numbers',
      [
        ['2', 'a'],
        ['10', 'b'],
        ['-1', 'c'],
        ['1.5', 'd'],
      ],
    ],
    [
      'the names of the item',
      [
        ['id', 'x'],
        ['lastupdated', 1],
        ['lastUpdated', 2],
        ['data', {}],
        ['channels', 5],
      ],
    ],
    [
      'a reference',
      [
        ['$ref', 'people'],
        ['$id', 7],
        ['$db', 'crm'],
        ['since', 2020],
      ],
    ],
    [
      'empty values',
      [
        ['a', {}],
        ['b', []],
        ['c', ''],
        ['d', null],
      ],
    ],
  ])('%s', async (_name, entries) => {
    for (const stored of [new Map(entries), new Map([['deeper', new Map(entries)]])]) {
      const own = await service.application();
      await own.product({ data: stored });
      const { items } = await own.feed('product').page();
      const shown = stored.has('deeper') ? items[0]?.data?.['deeper'] : items[0]?.data;
      expect(new Map(Object.entries(shown as object))).toEqual(new Map(entries));
    }
  });
});
