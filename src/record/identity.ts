import mongoose, { type mongo } from 'mongoose';

/** The fields that say what a record is to consumers. */
export const IDENTITY = ['organizationid', 'appid', 'id'] as const;

/** Types of `_id` that every driver can read and write back. */
const PLAIN_TYPES = ['objectId', 'string', 'int', 'long', 'double', 'decimal', 'bool'];

/*
 * Other programs may store values that no driver can decode. The watcher must not stumble over them, so the server
 * itself looks at the types, and hands over only what is of the right one.
 */

/** What the service learns from records, such as channels, is at most this long (bytes). */
export const LONGEST_LEARNED = 1024;
/** The most texts of a list that are learned. */
const MOST_LEARNED = 1000;

/** {@link identityTextsAt} of a whole record. */
export const IDENTITY_TEXTS = identityTextsAt('$');

const { BSON } = mongoose.mongo;

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?(?:E([+-]\d+))?$/;
const WHOLE = /^(0|-?[1-9]\d*)$/;
/** Decimal digits of the greatest whole number of 64 bits. */
const MOST_DIGITS = 19;
/** With the sign. */
export const LONGEST_NUMBER_TEXT = MOST_DIGITS + 1;

/**
 * A field's text; `null` where there is none, `false` where it is something else, or longer than `longest` (bytes) where
 * that is given.
 */
export function textAt(path: string, longest?: number): mongo.Document {
  const text = longest === undefined ? path : { $cond: [isLongText(path, longest), false, path] };
  const branches = [
    { case: { $eq: [{ $type: path }, 'string'] }, then: text },
    { case: { $eq: [{ $type: path }, 'missing'] }, then: null },
  ];
  return { $switch: { branches, default: false } };
}

/**
 * The projection of what a record, or a part of one, is to consumers: texts, typed as in {@link textAt}. Of an `id` that
 * is a number `isNumber` tells so, and is there only then.
 */
export function identityTextsAt(
  path: string,
): Record<(typeof IDENTITY)[number] | 'isNumber', mongo.Document> {
  return {
    organizationid: textAt(`${path}organizationid`),
    appid: textAt(`${path}appid`),
    id: idTextAt(`${path}id`),
    isNumber: { $cond: [{ $isNumber: `${path}id` }, true, '$$REMOVE'] },
  };
}

/** A field's texts: of a list, or the one that it is. Empty where it has none. Long ones, and those behind many, are left out. */
export function textsAt(path: string): mongo.Document {
  return { $slice: [{ $filter: { input: listAt(path), cond: isShortText('$$this') } }, MOST_LEARNED] };
}

/** Whether {@link textsAt} leaves out texts of a field. */
export function hasMoreTexts(path: string): mongo.Document {
  const long = { $filter: { input: listAt(path), cond: isLongText('$$this') } };
  return { $or: [{ $gt: [{ $size: long }, 0] }, { $gt: [{ $size: listAt(path) }, MOST_LEARNED] }] };
}

/** Whether there is a text that is longer (bytes). */
export function isLongText(path: string, longest = LONGEST_LEARNED): mongo.Document {
  return { $cond: [isText(path), { $gt: [{ $strLenBytes: path }, longest] }, false] };
}

/** Whether there is a text that is short enough to be learned. */
export function isShortText(path: string): mongo.Document {
  return { $cond: [isText(path), { $lte: [{ $strLenBytes: path }, LONGEST_LEARNED] }, false] };
}

/** An `_id` as it is where it is of a plain type and not long, else only its type. */
export function idAt(path: string): mongo.Document {
  const isPlain = { $in: [{ $type: path }, PLAIN_TYPES] };
  return { $cond: [isPlain, { $cond: [isLongText(path), typeAt(path), path] }, typeAt(path)] };
}

/*
 * Under which text consumers know a record (contract §4): an `id` that is a text is itself; a whole number within the
 * signed 64 bits is its decimal text, however it is stored; anything else is no `id`. Said twice, for the server and for
 * JavaScript; a test compares the two on a real server.
 */

/** The text of the stored `id` at a path, as an aggregation expression; `null` where none is stored, else `false`. */
export function idTextAt(path: string): mongo.Document {
  const whole = { $convert: { input: path, to: 'long', onError: null, onNull: null } };
  const branches = [
    { case: { $eq: [{ $type: path }, 'string'] }, then: path },
    { case: { $eq: [{ $type: path }, 'missing'] }, then: null },
    { case: { $and: [{ $isNumber: path }, { $eq: [whole, path] }] }, then: { $toString: whole } },
  ];
  return { $switch: { branches, default: false } };
}

/** The same of a value that the driver has read, in any of its ways. */
export function idTextOf(stored: unknown): string | undefined {
  if (typeof stored === 'string') return stored;
  const whole = wholeOf(stored);
  return whole !== undefined && BigInt.asIntN(64, whole) === whole ? String(whole) : undefined;
}

/** Whether a text may be the one under which a number is known. */
export function isNumberText(text: string): boolean {
  return text.length <= LONGEST_NUMBER_TEXT && WHOLE.test(text);
}

function typeAt(path: string): mongo.Document {
  return { type: { $type: path } };
}

function isText(path: string): mongo.Document {
  return { $eq: [{ $type: path }, 'string'] };
}

/** A list as it is, a text as a list of one, else nothing. */
function listAt(path: string): mongo.Document {
  const branches = [
    { case: isText(path), then: [path] },
    { case: { $eq: [{ $type: path }, 'array'] }, then: path },
  ];
  return { $switch: { branches, default: [] } };
}

function wholeOf(stored: unknown): bigint | undefined {
  if (typeof stored === 'bigint') return stored;
  if (typeof stored === 'number') return Number.isInteger(stored) ? BigInt(stored) : undefined;
  if (stored instanceof BSON.Long) return stored.toBigInt();
  if (stored instanceof BSON.Int32 || stored instanceof BSON.Double) return wholeOf(stored.value);
  return stored instanceof BSON.Decimal128 ? wholeDecimal(stored.toString()) : undefined;
}

/** A decimal may have thousands of zeros, at either end, so what is too long is never written out. */
function wholeDecimal(text: string): bigint | undefined {
  const [, sign, whole = '', fraction = '', exponent = '0'] = DECIMAL.exec(text) ?? [];
  if (sign === undefined) return undefined;
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  const zeros = Number(exponent) - fraction.length + digits.length - significant.length;
  if (significant === '') return 0n;
  if (zeros < 0 || significant.length + zeros > MOST_DIGITS) return undefined;
  return BigInt(sign + significant + '0'.repeat(zeros));
}
