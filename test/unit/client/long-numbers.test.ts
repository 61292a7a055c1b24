import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BSON, Decimal128, Long } from 'mongodb';
import type { CopyState, ToldUpsert } from '../../../client/src/harvest/index.js';
import { parseExactly } from '../../../client/src/parse-exactly.js';
import { NdjsonStore } from '../../../client/src/stores/ndjson/ndjson-store.js';
import { textsOf } from '../../../client/src/stores/rows.js';
import { wholeNumbersIn } from '../../../client/src/stores/whole-numbers.js';

/** Node 20 has no `JSON.rawJSON`, and rounds. */
const KEEPS_DIGITS = 'rawJSON' in JSON;
const LONG = '9223372036854775807';
const HELD = KEEPS_DIGITS ? LONG : '9223372036854776000';

const DATA = `{"ean":${LONG},"text":": ${LONG}, \\" [${LONG}","list":[-${LONG},1.5,12]}`;
const ITEM = `{"op":"upsert","id":"p1","lastupdated":"2026-01-01T00:00:00.000Z","type":"product","createDate":"","createdBy":"","data":${DATA}}`;
const told = () => parseExactly(ITEM) as ToldUpsert;
const DATA_HELD = `{"ean":${HELD},"text":": ${LONG}, \\" [${LONG}","list":[-${HELD},1.5,12]}`;

const STATE: CopyState = { feed: 'a/b/product/c', phase: 'following', generation: 1, isWithin: false };

it('a number by itself keeps its digits too', () => {
  expect(JSON.stringify(parseExactly(LONG))).toBe(HELD);
});

it('a whole number is written with the digits that it came with, within a text nothing is changed', () => {
  expect(JSON.stringify(parseExactly(DATA))).toBe(DATA_HELD);
  expect(textsOf(told())[5]).toBe(DATA_HELD);
});

it.each([
  '9007199254740991',
  '-9007199254740991',
  '[0.30000000000000004,1e21,-0,null]',
  '{"a":[1,{"b":"x"}]}',
  '"1234567890123456789"',
])('what no double rounds is what JSON.parse makes of it: %s', (text) => {
  expect(parseExactly(text)).toEqual(JSON.parse(text));
});

it('a number beyond every double is written as it came, and does not fit into MongoDB', () => {
  const long = '9'.repeat(400);
  const text = `{"a":1e999,"b":[-1.5E+400,${long}],"c":": 1e999"}`;
  const held = KEEPS_DIGITS ? text : '{"a":null,"b":[null,null],"c":": 1e999"}';
  expect(JSON.stringify(parseExactly(text))).toBe(held);
  for (const number of KEEPS_DIGITS ? ['1e999', '-1.5E+400', long] : [])
    expect(() => wholeNumbersIn(parseExactly(`{"a":${number}}`))).toThrow(RangeError);
});

it('what is no JSON is a SyntaxError', () => {
  expect(() => parseExactly(`{"a":${LONG}`)).toThrow(SyntaxError);
});

it('what JSON.parse has made is stored as it is', () => {
  const value = { list: [1, { ['__proto__']: 2 }, null, 'x', 2 ** 60] };
  expect(wholeNumbersIn(value)).toEqual(value);
});

it('what another `parse` has made of a value is stored as it is', () => {
  const values = { long: Long.fromString(LONG), at: new Date(0), price: Decimal128.fromString('1.10') };
  expect(BSON.serialize(wholeNumbersIn({ deep: [values] }) as object)).toEqual(
    BSON.serialize({ deep: [values] }),
  );
});

it('in MongoDB a 64-bit integer is one, and a longer number a double', () => {
  const value = wholeNumbersIn(
    parseExactly(`{"a":[${LONG}],"b":-9223372036854775808,"c":92233720368547758070}`),
  );
  const read = BSON.deserialize(BSON.serialize(value as object), { useBigInt64: true });
  const held = KEEPS_DIGITS ? [[2n ** 63n - 1n], -(2n ** 63n)] : [[2 ** 63], -(2 ** 63)];
  expect([read['a'], read['b'], read['c']]).toEqual([...held, Number('92233720368547758070')]);
});

it('a file of lines holds its digits, when it is written anew too, and with the mark of a newer generation', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tidemark-long-'));
  const path = join(folder, 'copy.ndjson');
  const store = await NdjsonStore.open(path, 0);
  try {
    await store.apply({ changes: [told()], state: STATE });
    const older = { ...told(), lastupdated: '2025-01-01T00:00:00.000Z' };
    await store.apply({ changes: [older], state: { ...STATE, generation: 2 } });
    await store.sweep({ ...STATE, generation: 2 });
    const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
    expect(lines).toEqual([
      expect.stringContaining(`"data":${DATA_HELD},"generation":2}`),
      expect.stringContaining('"state"'),
    ]);
  } finally {
    await store.close();
    await rm(folder, { recursive: true });
  }
});
