import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import mongoose, { type mongo } from 'mongoose';
import { type Filter, FILTER_BYTES } from '../application/plain.js';
import {
  FatalError,
  fileTrouble,
  isKept,
  type LostNumber,
  lostNumber,
  parseDate,
  shown,
} from '../platform/common/index.js';
import { invalid, type Refused } from './changes.js';
import { assertFilter } from './filter-trial.js';

/** A valid filter has fewer levels, including values of extended JSON. Deeper levels are not read. */
const MOST_LEVELS = 20;
/**
 * Maximum length of the JSON of a filter in a body, in characters. A byte of text takes at most six characters of JSON.
 * The rest is for values of other types, which are rare in filters.
 */
const LONGEST = 8 * FILTER_BYTES;
const TOO_LARGE = `The filter must be smaller than ${FILTER_BYTES} bytes (64 KiB).`;

/**
 * Reads the filter of an option: extended JSON, or `@` and the name of a file that contains it. Throws if it is not valid
 * JSON, or if contract §4 does not allow the filter.
 */
export async function filterOf(option: string): Promise<Filter> {
  const filter = parseFilter(await optionText(option, 'The filter'));
  assertFilter(filter);
  return filter;
}

/** Reads extended JSON without loss. An object is a BSON value only if its only key denotes one. */
export function parseFilter(text: string): unknown {
  const json = jsonOf(text);
  const lost = lostNumber(text);
  if (lost !== undefined && !mayBeRounded(Number(lost.written))) throw notKept(lost);
  const filter = read(json, '', 1);
  if (lost !== undefined) throw notKept(lost);
  return filter;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new FatalError(`The filter is not JSON: ${(error as Error).message.split('\n')[0]}.`);
  }
}

/** `place` is the path from the root of the filter, such as `$or[1].data.price`. */
function read(json: unknown, place: string, level: number): unknown {
  if (typeof json === 'number' && mayBeRounded(json)) throw rounded(json, place);
  if (typeof json === 'string' && !json.isWellFormed()) throw notWellFormed(place);
  if (typeof json !== 'object' || json === null || level > MOST_LEVELS) return json;
  if (Array.isArray(json)) return json.map((one, index) => read(one, `${place}[${index}]`, level + 1));
  const key = valueKey(json);
  if (key !== undefined) return readValue(json, key, place);
  const parts = Object.entries(json).map(([name, inner]) => {
    const at = place === '' ? shown(name) : `${place}.${shown(name)}`;
    if (!name.isWellFormed()) throw notWellFormed(at);
    return [name, read(inner, at, level + 1)] as const;
  });
  return Object.fromEntries(parts);
}

function readValue(json: object, key: string, place: string): unknown {
  const found = bsonOf(json, key);
  if ('value' in found) return found.value;
  const sentence = `"${key}" takes ${found.wants}; ${named(place)} has ${shown(JSON.stringify(json))}.`;
  throw invalid(`The filter is not valid. ${sentence}`, '/filter');
}

function named(place: string): string {
  return place === '' ? 'the filter' : place;
}

/** MongoDB stores UTF-8, which cannot represent half of a surrogate pair. */
function notWellFormed(place: string): Refused {
  return invalid(
    `The filter is not valid. ${named(place)} contains half of a surrogate pair, which cannot be stored. Send whole characters.`,
    '/filter',
  );
}

function rounded(value: number, place: string): Refused {
  return invalid(
    `The filter is not valid. ${named(place)} has ${value}, more digits than a JSON number keeps. Write its digits in quotes, as in {"$numberLong": "9007199254740993"} or {"$numberDouble": "1e17"}.`,
    '/filter',
  );
}

function notKept({ pointer, written }: LostNumber): Refused {
  const at = pointer === '' ? '' : ` at ${shown(pointer)}`;
  return invalid(
    `The filter is not valid. The number ${shown(written)}${at} would be stored as a different number. Write a number such as 42, or {"$numberDouble": "Infinity"} for infinity.`,
    '/filter',
  );
}

/** Reads a filter from JSON that is already parsed, such as a property of a body. */
export function filterOfJson(json: unknown): unknown {
  const waiting = [{ value: json, level: 1 }];
  for (const { value, level } of waiting) {
    if (typeof value === 'number' && !Number.isFinite(value))
      throw notKept({ pointer: '', written: String(value) });
    if (typeof value !== 'object' || value === null) continue;
    if (level > MOST_LEVELS)
      throw invalid(`The filter is nested deeper than ${MOST_LEVELS} levels.`, '/filter');
    for (const inner of Object.values(value)) waiting.push({ value: inner, level: level + 1 });
  }
  const text = JSON.stringify(json);
  if (text.length > LONGEST) throw invalid(`The filter is not valid. ${TOO_LARGE}`, '/filter');
  return parseFilter(text);
}

/**
 * The text of an option: the option itself or, if it is `@` and a file name, the content of that file. The byte order
 * mark that Windows editors put before the content is removed. An error message begins with `what`.
 */
export async function optionText(option: string, what: string): Promise<string> {
  if (!option.startsWith('@')) return option;
  const file = option.slice(1);
  const content = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new FatalError(`${what} cannot be read from ${file}: ${fileTrouble(error)}.`);
  });
  if (!isUtf8(content)) throw new FatalError(`${what} cannot be read from ${file}: it is not UTF-8.`);
  return content.toString().replace(/^\uFEFF/, '');
}

const { EJSON } = mongoose.mongo.BSON;

const WHOLE = /^(?:0|-?[1-9]\d*)$/;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** The values of `$numberDouble` that are not written in digits. */
const NO_NUMBERS = new Set(['NaN', 'Infinity', '-Infinity']);
const OID = /^[0-9a-f]{24}$/i;
const UUID = /^[0-9a-f]{8}(-?)[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}$/i;
const SUBTYPE = /^[0-9a-f]{1,2}$/i;
const BELOW_MILLISECONDS = /\.\d{3}\d*[1-9]/;
const LATEST_MS = 8_640_000_000_000_000n;

interface Value {
  /** The expected form, for the error message. */
  wants: string;
  /** Whether the JSON under the key is valid, apart from what `EJSON.parse` checks. */
  fits: (json: unknown) => boolean;
}

/** The types of extended JSON by key. `$regex` is not one of them: in a filter, it is an operator. */
const VALUES: ReadonlyMap<string, Value> = new Map([
  ['$date', { wants: 'a time such as "2027-01-31T18:00:00Z"', fits: isDate }],
  ['$oid', { wants: '24 hexadecimal digits', fits: (json) => isText(json) && OID.test(json) }],
  [
    '$uuid',
    {
      wants: `a UUID such as "9f1c2d3e-4b5a-6978-8796-a5b4c3d2e1f0"`,
      fits: (json) => isText(json) && UUID.test(json),
    },
  ],
  [
    '$timestamp',
    { wants: 'two whole numbers from 0 to 4294967295, as in {"t": 1700000000, "i": 1}', fits: isTimestamp },
  ],
  [
    '$numberInt',
    {
      wants: 'a whole number of 32 bits such as "42"',
      fits: (json) => (isText(json) || typeof json === 'number') && isWhole(String(json), 32),
    },
  ],
  [
    '$numberLong',
    { wants: 'a whole number of 64 bits such as "42"', fits: (json) => isText(json) && isWhole(json, 64) },
  ],
  ['$numberDouble', { wants: 'a number such as "1.5" or "Infinity"', fits: isDouble }],
  ['$numberDecimal', { wants: 'a decimal number of up to 34 digits such as "1.50"', fits: isText }],
  ['$binary', { wants: 'base64 and a subtype, as in {"base64": "YQ==", "subType": "00"}', fits: isBinary }],
  [
    '$regularExpression',
    { wants: 'a pattern and options, as in {"pattern": "^a", "options": "i"}', fits: isPattern },
  ],
  ['$minKey', { wants: '1', fits: (json) => json === 1 }],
  ['$maxKey', { wants: '1', fits: (json) => json === 1 }],
]);

/** The only key of a document that is an extended JSON value; undefined for other documents. */
function valueKey(document: object): string | undefined {
  const [key, ...others] = Object.keys(document);
  return key !== undefined && others.length === 0 && VALUES.has(key) ? key : undefined;
}

/** The BSON value of such a document, or the expected form if its content is not valid. */
function bsonOf(document: object, key: string): { value: unknown } | { wants: string } {
  const { wants, fits } = VALUES.get(key)!;
  if (!fits(Object.values(document)[0])) return { wants };
  try {
    return { value: EJSON.parse(JSON.stringify(document), { relaxed: false }) };
  } catch {
    return { wants };
  }
}

function isText(json: unknown): json is string {
  return typeof json === 'string';
}

function isWhole(digits: string, bits: number): boolean {
  return WHOLE.test(digits) && BigInt.asIntN(bits, BigInt(digits)) === BigInt(digits);
}

function isDouble(json: unknown): boolean {
  if (typeof json === 'number') return true;
  return isText(json) && (NO_NUMBERS.has(json) || (NUMBER.test(json) && isKept(json)));
}

/**
 * Accepts a text only if `parseDate` and `Date` read the same time in it: `EJSON.parse` uses `Date`, which would read
 * 30 February as 2 March, and 5 as May.
 */
function isDate(json: unknown): boolean {
  if (isText(json)) {
    const read = parseDate(json);
    return 'value' in read && !BELOW_MILLISECONDS.test(json) && read.value.getTime() === Date.parse(json);
  }
  if (!hasKeys(json, ['$numberLong']) || !isText(json['$numberLong']) || !isWhole(json['$numberLong'], 64))
    return false;
  const ms = BigInt(json['$numberLong']);
  return ms <= LATEST_MS && ms >= -LATEST_MS;
}

function isTimestamp(json: unknown): boolean {
  return hasKeys(json, ['t', 'i']) && Object.values(json).every((part) => part === Number(part) >>> 0);
}

function isBinary(json: unknown): boolean {
  if (!hasKeys(json, ['base64', 'subType'])) return false;
  const { base64, subType } = json;
  if (!isText(base64) || !isText(subType) || !SUBTYPE.test(subType)) return false;
  return Buffer.from(base64, 'base64').toString('base64') === base64;
}

function isPattern(json: unknown): boolean {
  if (!hasKeys(json, ['pattern', 'options']) && !hasKeys(json, ['pattern'])) return false;
  const { pattern, options = '' } = json;
  return isText(pattern) && pattern.isWellFormed() && isText(options);
}

function hasKeys(json: unknown, keys: string[]): json is Record<string, unknown> {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return false;
  return Object.keys(json).length === keys.length && keys.every((key) => Object.hasOwn(json, key));
}

const { Double, Long, Timestamp } = mongoose.mongo.BSON;
const LONGS = 2 ** 63;

/**
 * Writes a filter or any other value as the JSON that {@link parseFilter} reads: relaxed extended JSON, but whole numbers
 * that JSON would round keep all their digits, as `$numberLong` or `$numberDouble`.
 */
export function filterJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(filterJson);
  // A program may have stored the names by which the driver knows its own classes, such as `_bsontype`.
  if (isDocument(value))
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, filterJson(inner)]));
  const number = value instanceof Double ? value.value : value;
  if (typeof number === 'number' && mayBeRounded(number)) return { $numberDouble: String(number) };
  if ((typeof value === 'bigint' || isLong(value)) && !isSafe(value)) return long(value);
  const isJson = ['string', 'boolean'].includes(typeof value) || Number.isFinite(value);
  return isJson ? value : EJSON.serialize(value, { relaxed: true });
}

/** Whether a JSON number may be the rounded form of another 64-bit integer. */
function mayBeRounded(value: number): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < LONGS;
}

/** In the driver, a `Timestamp` is a `Long` too. */
function isLong(value: unknown): value is mongo.Long {
  return Long.isLong(value) && !(value instanceof Timestamp);
}

function isSafe(value: { toString(): string }): boolean {
  return Number.isSafeInteger(Number(value.toString()));
}

function long(value: { toString(): string }): object {
  return { $numberLong: value.toString() };
}

/** BSON types are classes, so none of their values has the prototype of a plain object. */
function isDocument(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
