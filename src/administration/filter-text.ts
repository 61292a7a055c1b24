import { readFile } from 'node:fs/promises';
import mongoose from 'mongoose';
import type { Filter } from '../application/index.js';
import { FatalError, isKept, type LostNumber, lostNumber, shown } from '../common/index.js';
import { extendedJson, mayBeRounded } from './extended-json.js';
import { assertFilter } from './filter-trial.js';
import { invalid, Refused } from './refused.js';

const { EJSON } = mongoose.mongo.BSON;

/** A valid filter has fewer levels, values of extended JSON included; deeper text is not gone into. */
const MOST_LEVELS = 20;

/** What `$numberDouble` may say in words. */
const NO_NUMBERS = new Set(['NaN', 'Infinity', '-Infinity']);

/** Extended JSON that stands for one value. `$regex` is not among them: it is an operator here. */
const VALUES = new Set([
  ...['$date', '$oid', '$regularExpression', '$binary', '$uuid', '$timestamp', '$minKey', '$maxKey'],
  ...['$numberInt', '$numberLong', '$numberDouble', '$numberDecimal'],
]);

/**
 * The filter that an option gives: extended JSON, or `@` and the name of a file with it. Throws where it is none, or
 * one that contract §4 does not allow.
 */
export async function filterOf(option: string): Promise<Filter> {
  const filter = parseFilter(option.startsWith('@') ? await contentOf(option.slice(1)) : option);
  assertFilter(filter);
  return filter;
}

/** Reads extended JSON with nothing lost: an object is a value only if its sole key says so. */
export function parseFilter(text: string): unknown {
  try {
    const read: unknown = JSON.parse(text, (_key, value: unknown) => {
      if (typeof value === 'number' && mayBeRounded(value)) throw rounded(value);
      return isValue(value) ? bsonOf(value) : value;
    });
    const lost = lostNumber(text);
    if (lost !== undefined) throw notKept(lost);
    return read;
  } catch (error) {
    if (error instanceof Refused) throw error;
    throw new FatalError(`The filter is not JSON: ${(error as Error).message.split('\n')[0]}.`);
  }
}

function rounded(value: number): Refused {
  return invalid(
    `The filter is not valid. ${value} has more digits than a JSON number keeps. Write {"$numberLong": "9007199254740993"}, its digits in quotes, or {"$numberDouble": "1e17"}.`,
    '/filter',
  );
}

function notKept({ pointer, written }: LostNumber): Refused {
  const at = pointer === '' ? '' : ` at ${shown(pointer)}`;
  return invalid(
    `The filter is not valid. The number ${shown(written)}${at} cannot be kept as it is written. Write one such as 42, or {"$numberDouble": "Infinity"} for what is beyond all numbers.`,
    '/filter',
  );
}

/** The same from JSON that is parsed already, as it comes in a body. */
export function filterOfJson(json: unknown): unknown {
  const waiting = [{ value: json, level: 1 }];
  for (const { value, level } of waiting) {
    if (typeof value === 'number' && !Number.isFinite(value))
      throw notKept({ pointer: '', written: String(value) });
    if (typeof value !== 'object' || value === null) continue;
    if (level > MOST_LEVELS) throw invalid(`The filter is nested deeper than ${MOST_LEVELS} levels.`);
    for (const inner of Object.values(value)) waiting.push({ value: inner, level: level + 1 });
  }
  return parseFilter(JSON.stringify(json));
}

/** The filter as the JSON that {@link parseFilter} reads. */
export function filterJson(filter: unknown): unknown {
  return extendedJson(filter);
}

function isValue(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const [key, ...others] = Object.keys(value);
  return key !== undefined && others.length === 0 && VALUES.has(key);
}

/**
 * Its parts are BSON values by now, since JSON is read from the inside out; canonical text holds those too. Throws where it
 * is none of what its key says.
 */
function bsonOf(value: object): unknown {
  try {
    const read: unknown = EJSON.parse(EJSON.stringify(value, { relaxed: false }), { relaxed: false });
    if (isSaid(value, read)) return read;
  } catch {
    // The fault is reported below, in the words of the sender.
  }
  throw invalid(
    `The filter is not valid. ${shown(EJSON.stringify(value))} is no value of extended JSON, such as {"$numberLong": "42"} or {"$date": "2027-01-31T18:00:00Z"}.`,
    '/filter',
  );
}

/** Digits that are too many, or none, would be read as another number. */
function isSaid(value: object, read: unknown): boolean {
  const [[key, digits] = []] = Object.entries(value) as [string, unknown][];
  if (key === '$numberInt' || key === '$numberLong') return String(read) === String(digits);
  return key !== '$numberDouble' || NO_NUMBERS.has(String(digits)) || isKept(String(digits));
}

/** Editors of Windows put a byte order mark before the text, which is no part of it. */
async function contentOf(file: string): Promise<string> {
  const content = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new FatalError(`The filter cannot be read from ${file}: ${error.code ?? error.message}.`);
  });
  return content.replace(/^\uFEFF/, '');
}
