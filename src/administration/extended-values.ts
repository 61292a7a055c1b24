import mongoose from 'mongoose';
import { isKept, parseDate } from '../common/index.js';

const { EJSON } = mongoose.mongo.BSON;

const WHOLE = /^(?:0|-?[1-9]\d*)$/;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** What `$numberDouble` may say in words. */
const NO_NUMBERS = new Set(['NaN', 'Infinity', '-Infinity']);
const OID = /^[0-9a-f]{24}$/i;
const UUID = /^[0-9a-f]{8}(-?)[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}$/i;
const SUBTYPE = /^[0-9a-f]{1,2}$/i;
const BELOW_MILLISECONDS = /\.\d{3}\d*[1-9]/;
const LATEST_MS = 8_640_000_000_000_000n;

interface Value {
  /** What is right, for the sentence about what is not. */
  wants: string;
  /** Whether the JSON after the key is right, so far as reading it would not tell. */
  fits: (json: unknown) => boolean;
}

/** Extended JSON for one value, by its key. `$regex` is not among it: it is an operator in a filter. */
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

/** The key of a document that is one value of extended JSON: the only one that it has. */
export function valueKey(document: object): string | undefined {
  const [key, ...others] = Object.keys(document);
  return key !== undefined && others.length === 0 && VALUES.has(key) ? key : undefined;
}

/** The BSON value of such a document; what its key takes, in words, if it has anything else. */
export function bsonOf(document: object, key: string): { value: unknown } | { wants: string } {
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

/** A text must be read as the time that it says: `Date` would take 30 February for 2 March, and 5 for May. */
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
