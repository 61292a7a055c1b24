import { readFile } from 'node:fs/promises';
import { type Filter, FILTER_BYTES } from '../application/plain.js';
import { FatalError, fileTrouble, type LostNumber, lostNumber, shown } from '../common/index.js';
import { extendedJson, mayBeRounded } from './extended-json.js';
import { bsonOf, valueKey } from './extended-values.js';
import { assertFilter } from './filter-trial.js';
import { invalid, type Refused } from './refused.js';

/** A valid filter has fewer levels, values of extended JSON included; deeper text is not gone into. */
const MOST_LEVELS = 20;
/** Of a filter in a body, as JSON: a text takes at most six characters for each of its bytes, and other values are few. */
const LONGEST = 8 * FILTER_BYTES;
const TOO_LARGE = `The filter must be smaller than ${FILTER_BYTES} bytes (64 KB).`;

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

/** `place`: keys and positions from the filter's own start, such as `$or[1].data.price`. */
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
    `The filter is not valid. ${named(place)} has ${value}, more digits than a JSON number keeps. Write {"$numberLong": "9007199254740993"}, its digits in quotes, or {"$numberDouble": "1e17"}.`,
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
  const text = JSON.stringify(json);
  if (text.length > LONGEST) throw invalid(`The filter is not valid. ${TOO_LARGE}`, '/filter');
  return parseFilter(text);
}

/** The filter as the JSON that {@link parseFilter} reads. */
export function filterJson(filter: unknown): unknown {
  return extendedJson(filter);
}

/** Editors of Windows put a byte order mark before the text, which is no part of it. */
async function contentOf(file: string): Promise<string> {
  const content = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new FatalError(`The filter cannot be read from ${file}: ${fileTrouble(error)}.`);
  });
  return content.replace(/^\uFEFF/, '');
}
