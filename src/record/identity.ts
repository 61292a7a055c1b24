import mongoose, { type mongo } from 'mongoose';

/** The fields that identify a record to consumers. */
export const IDENTITY = ['organizationid', 'appid', 'id'] as const;

/** Types of `_id` that every driver can read and write back. */
const PLAIN_TYPES = ['objectId', 'string', 'int', 'long', 'double', 'decimal', 'bool'];

/*
 * Other programs may store values that no driver can decode. The watcher must not fail on them, so the server checks
 * the types and returns only values of the expected type.
 */

/** Maximum size of texts that the service extracts from records, such as channels (bytes). */
export const LONGEST_LEARNED = 1024;
/** Maximum number of texts of a list that are extracted. */
const MOST_LEARNED = 1000;

/** {@link identityTextsAt} of a whole record. */
export const IDENTITY_TEXTS = identityTextsAt('$');

const { BSON } = mongoose.mongo;

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?(?:E([+-]\d+))?$/;
const WHOLE = /^(0|-?[1-9]\d*)$/;
/** Decimal digits of the greatest 64-bit integer. */
const MOST_DIGITS = 19;
/** Maximum length of the text of a numeric `id`, including the sign. */
export const LONGEST_NUMBER_TEXT = MOST_DIGITS + 1;

/**
 * A field's text; `null` if the field is missing; `false` if it is not a text, or is longer than `longest` (bytes),
 * if given.
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
 * The projection of the identity of a record or of a part of one: texts, typed as in {@link textAt}. `isNumber` is
 * present, and true, only if the `id` is a number.
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

/**
 * A field's texts: the elements of a list, or the single text. Empty if there are none. Omits long texts, and those
 * beyond the maximum number.
 */
export function textsAt(path: string): mongo.Document {
  return { $slice: [{ $filter: { input: listAt(path), cond: isShortText('$$this') } }, MOST_LEARNED] };
}

/** Whether {@link textsAt} may omit texts of a field: elements of a list that are not texts count as texts here. */
export function hasMoreTexts(path: string): mongo.Document {
  const long = { $filter: { input: listAt(path), cond: isLongText('$$this') } };
  return { $or: [{ $gt: [{ $size: long }, 0] }, { $gt: [{ $size: listAt(path) }, MOST_LEARNED] }] };
}

/** Whether the value is a text that is longer than `longest` (bytes). */
export function isLongText(path: string, longest = LONGEST_LEARNED): mongo.Document {
  return { $cond: [isText(path), { $gt: [{ $strLenBytes: path }, longest] }, false] };
}

/** Whether the value is a text that is short enough to be extracted. */
export function isShortText(path: string): mongo.Document {
  return { $cond: [isText(path), { $lte: [{ $strLenBytes: path }, LONGEST_LEARNED] }, false] };
}

/** An `_id` itself if it is of a plain type and not long, else only its type. */
export function idAt(path: string): mongo.Document {
  const isPlain = { $in: [{ $type: path }, PLAIN_TYPES] };
  return { $cond: [isPlain, { $cond: [isLongText(path), typeAt(path), path] }, typeAt(path)] };
}

/*
 * The text by which consumers know a record (contract §4): an `id` that is a text is used as it is; an integer within
 * the signed 64-bit range becomes its decimal text, regardless of how it is stored; any other value is no `id`.
 * Implemented twice, for the server and for JavaScript; a test compares the two on a real server.
 */

/**
 * The text of the stored `id` at a path, as an aggregation expression; `null` if the field is missing, `false` if it
 * is no `id`.
 */
export function idTextAt(path: string): mongo.Document {
  const whole = { $convert: { input: path, to: 'long', onError: null, onNull: null } };
  const branches = [
    { case: { $eq: [{ $type: path }, 'string'] }, then: path },
    { case: { $eq: [{ $type: path }, 'missing'] }, then: null },
    { case: { $and: [{ $isNumber: path }, { $eq: [whole, path] }] }, then: { $toString: whole } },
  ];
  return { $switch: { branches, default: false } };
}

/** Like {@link idTextAt}, for a value that the driver has read in any representation; undefined if it is no `id`. */
export function idTextOf(stored: unknown): string | undefined {
  if (typeof stored === 'string') return stored;
  const whole = wholeOf(stored);
  return whole !== undefined && BigInt.asIntN(64, whole) === whole ? String(whole) : undefined;
}

/** Whether a text may be the text of a numeric `id`. */
export function isNumberText(text: string): boolean {
  return text.length <= LONGEST_NUMBER_TEXT && WHOLE.test(text);
}

function typeAt(path: string): mongo.Document {
  return { type: { $type: path } };
}

function isText(path: string): mongo.Document {
  return { $eq: [{ $type: path }, 'string'] };
}

/** A list unchanged, a text as a list of one, anything else as an empty list. */
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

/** A decimal may have thousands of zeros at either end, so one that is too long is never expanded. */
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
