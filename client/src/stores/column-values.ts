import { isWellFormed } from '../harvest/unfit.js';
import { exactDigits } from '../parse-exactly.js';
import type { ColumnField, ColumnType } from './columns.js';

const DATE_TIME = /^(\d{4})-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/**
 * The value of a field as PostgreSQL reads it for the type of its column; null if the field is missing, null, or does not fit:
 * `data` holds it in any case.
 */
export function columnText(data: unknown, { path, type }: ColumnField): string | null {
  let value = data;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return null;
    value = (value as Record<string, unknown>)[name];
  }
  return value === undefined || value === null ? null : TEXTS[type](value);
}

const TEXTS: Record<ColumnType, (value: unknown) => string | null> = {
  integer: (value) => {
    const digits = digitsOf(value);
    if (digits === undefined || !/^-?\d+$/.test(digits)) return null;
    return BigInt.asIntN(64, BigInt(digits)) === BigInt(digits) ? digits : null;
  },
  number: (value) => {
    const digits = digitsOf(value);
    return digits === undefined || !Number.isFinite(Number(digits)) ? null : String(Number(digits));
  },
  boolean: (value) => (typeof value === 'boolean' ? String(value) : null),
  timestamp: (value) => {
    // PostgreSQL has no year 0.
    if (typeof value !== 'string' || !DATE_TIME.test(value) || value.startsWith('0000')) return null;
    const at = new Date(value);
    // JavaScript reads 30 February as 2 March, and PostgreSQL refuses the whole record for it.
    return !Number.isNaN(at.getTime()) && at.toISOString() === value ? value : null;
  },
  text: (value) => (typeof value === 'string' && isWellFormed(value) && !value.includes('\0') ? value : null),
  json: (value) => JSON.stringify(value),
};

/** The digits of a number, also of one that no double holds. */
function digitsOf(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value).toString() : String(value);
  return exactDigits(value);
}
