import * as raw from './raw-bson.js';

/** Taken once: Jest looks a global up in its sandbox each time, which millions of rolls feel. */
const { floor, imul } = Math;

/** Whole numbers from 0 up to `bound`, which it does not reach. */
export type RandomValues = (bound: number) => number;

/** The same rolls for the same seed (mulberry32). */
export function dice(seed: number): RandomValues {
  let state = seed;
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + imul(mixed ^ (mixed >>> 7), mixed | 61);
    return floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * bound);
  };
}

const WORDS = [
  'Chair',
  'a "quoted" one',
  'C:\\shop',
  'Müller',
  'стол',
  '椅子',
  '😀 smile',
  'tab\there',
  '\u0000',
  '',
];
const NUMBERS = [
  0,
  -0,
  1,
  -1,
  0.1,
  19.99,
  1e21,
  1e-7,
  2 ** 53,
  5e-324,
  NaN,
  Infinity,
  -Infinity,
  123456.789012,
];
const NAMES = [
  'name',
  'price',
  'in stock',
  'Größe',
  'a"b',
  '\\',
  '\n',
  '$ref',
  'a.b',
  '',
  '__proto__',
  'toJSON',
];

const MAKERS: ((roll: RandomValues, depth: number) => raw.Value)[] = [
  (roll) => raw.text(words(roll)),
  (roll) => raw.text(words(roll)),
  (roll) => raw.text(bytes(roll, 40)),
  (roll) => raw.text(words(roll), 0x0d),
  (roll) => raw.text(words(roll), 0x0e),
  (roll) => raw.int32(roll(2 ** 32) - 2 ** 31),
  (roll) => raw.int32(roll(1000) - 500),
  (roll) => raw.int64(anyInt64(roll)),
  (roll) => raw.int64(BigInt(roll(1000))),
  (roll) => raw.double((roll(2 ** 32) - 2 ** 31) / 10 ** roll(9)),
  (roll) => raw.double(NUMBERS[roll(NUMBERS.length)]!),
  (roll) => ({ type: 0x01, bytes: bytesOf(roll, 8) }),
  (roll) => raw.date(roll(2 ** 32) * 1000 - 2 ** 41),
  (roll) => raw.date(anyInt64(roll) >> 15n),
  (roll) => raw.date(anyInt64(roll)),
  (roll) => raw.boolean(roll(2)),
  () => raw.NULL,
  (roll) => raw.bare([0x06, 0x7f, 0xff][roll(3)]!),
  (roll) => raw.objectId(bytesOf(roll, 12).toString('hex')),
  (roll) => raw.binary(bytes(roll, 30), [0, 4, 5, 0x80][roll(4)]),
  (roll) => raw.int64(anyInt64(roll), 0x11),
  (roll) => ({ type: 0x13, bytes: bytesOf(roll, 16) }),
  (roll) => ({ type: 0x13, bytes: amount(roll) }),
  (roll) => raw.regExp(words(roll).replaceAll('\0', ''), ['', 'i', 'im'][roll(3)]!),
  (roll, depth) => list(roll, depth + 1),
  (roll, depth) => document(roll, depth + 1),
  (roll, depth) => document(roll, depth + 1),
];

/** A record whose fields are mostly as they should be; no document in it has a key twice, or one like a list's. */
export function randomRecord(roll: RandomValues): raw.Value {
  const fields: [string, raw.Value][] = [
    ['organizationid', raw.text('acme')],
    ['_id', raw.objectId(bytesOf(roll, 12).toString('hex'))],
    ['id', raw.text(words(roll))],
    ['type', mostly(roll, raw.text('bundle'))],
    ['createDate', mostly(roll, raw.date(roll(2 ** 32) * 500))],
    ['createdBy', mostly(roll, raw.text(words(roll)))],
    ['lastupdated', mostly(roll, raw.date(1.7e12 + roll(1e9)))],
    ['data', mostly(roll, document(roll, 1))],
    ['channels', mostly(roll, raw.list([raw.text('web'), raw.text(words(roll)), raw.int32(1)]))],
    [`other${roll(9)}`, value(roll, 1)],
  ];
  const kept = fields.filter(([name]) => name === '_id' || roll(20) > 0);
  const turn = roll(kept.length);
  return raw.document([...kept.slice(turn), ...kept.slice(0, turn)]);
}

function mostly(roll: RandomValues, usual: raw.Value): raw.Value {
  return roll(12) > 0 ? usual : value(roll, 1);
}

function value(roll: RandomValues, depth: number): raw.Value {
  return MAKERS[roll(MAKERS.length - (depth > 3 ? 3 : 0))]!(roll, depth);
}

function document(roll: RandomValues, depth: number): raw.Value {
  const keys = new Set(Array.from({ length: roll(7) }, () => key(roll)));
  return raw.document([...keys].map((name) => [name, value(roll, depth)] as const));
}

function list(roll: RandomValues, depth: number): raw.Value {
  return raw.list(Array.from({ length: roll(4) }, () => value(roll, depth)));
}

function key(roll: RandomValues): string {
  return roll(6) === 0
    ? 'passwordhash'
    : NAMES[roll(NAMES.length)]! + (roll(3) === 0 ? '' : 'x'.repeat(roll(20)));
}

function words(roll: RandomValues): string {
  return Array.from({ length: roll(5) }, () => WORDS[roll(WORDS.length)]).join(' ');
}

function bytes(roll: RandomValues, bound: number): Buffer {
  return bytesOf(roll, roll(bound));
}

function bytesOf(roll: RandomValues, length: number): Buffer {
  const filled = Buffer.allocUnsafe(length);
  for (let index = 0; index < length; index++) filled[index] = roll(256);
  return filled;
}

/** A Decimal128 of few digits, such as -0.00. */
function amount(roll: RandomValues): Buffer {
  const exponent = BigInt(6176 + 2 - roll(14)) << 49n;
  const sign = roll(2) === 0 ? 0n : 1n << 63n;
  return Buffer.concat([raw.int64(BigInt(roll(10 ** roll(8)))).bytes, raw.int64(sign | exponent).bytes]);
}

function anyInt64(roll: RandomValues): bigint {
  return bytesOf(roll, 8).readBigInt64LE() >> BigInt(roll(64));
}
