import mongoose, { type mongo } from 'mongoose';

const { BSON } = mongoose.mongo;

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?(?:E([+-]\d+))?$/;
const WHOLE = /^(0|-?[1-9]\d*)$/;
/** Decimal digits of the greatest whole number of 64 bits. */
const MOST_DIGITS = 19;
/** With the sign. */
export const LONGEST_NUMBER_TEXT = MOST_DIGITS + 1;

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
