const DATE_TIME =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const LOST_PLUS = /^[\d-]+[Tt][\d:.]+ \d{2}:\d{2}$/;
/** The longest date-time has nine fraction digits and an offset: 35 characters. */
const LONGEST = 40;
/** The number of a leap second. */
const LEAP = 60;
const DAY_S = 86_400;
const EXAMPLE = '2026-11-20T10:00:00.000Z';

export type Parsed<T> = { value: T } | { error: string };

/**
 * Parses an RFC 3339 date-time or a date `YYYY-MM-DD` (midnight UTC), as contract §1 allows in `to` and `from`.
 * Fractions are truncated to milliseconds. A leap second, the last of a day in UTC, becomes the next second. The
 * error quotes the input and says what to send.
 */
export function parseDate(text: string): Parsed<Date> {
  const isShort = text.length <= LONGEST;
  if (isShort && LOST_PLUS.test(text)) {
    return { error: `"${shown(text)}" has a blank where a + must have been: encode + as %2B.` };
  }
  const date = isShort ? fromParts(DATE_TIME.exec(text) ?? DATE.exec(text)) : undefined;
  if (date === undefined) {
    return { error: `"${shown(text)}" is not a date. Send one such as ${EXAMPLE} or 2026-11-20.` };
  }
  const year = date.getUTCFullYear();
  return year >= 0 && year <= 9999
    ? { value: date }
    : { error: `"${shown(text)}" lies outside the years 0000 to 9999. Send one such as ${EXAMPLE}.` };
}

/** A text from a client or a server, shortened for a message and made well-formed Unicode. */
export function shown(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80).toWellFormed()}…` : text.toWellFormed();
}

/** The earlier of two values that `<` can compare, such as dates or ObjectIds. If one is undefined, the other one. */
export function earlier<T extends object | undefined>(one: T, other: T): T {
  if (one === undefined || other === undefined) return one ?? other;
  return one <= other ? one : other;
}

/** The later one of two values, as in {@link earlier}. */
export function later<T extends object | undefined>(one: T, other: T): T {
  if (one === undefined || other === undefined) return one ?? other;
  return one >= other ? one : other;
}

function fromParts(parts: RegExpExecArray | null): Date | undefined {
  if (parts === null) return undefined;
  const number = (index: number) => Number(parts[index] ?? 0);
  const [year, month, day] = [number(1), number(2), number(3)];
  const [hour, minute, second] = [number(4), number(5), number(6)];
  const milliseconds = Number((parts[7] ?? '').slice(0, 3).padEnd(3, '0'));
  const offsetHour = number(9);
  const offsetMinute = number(10);
  if (hour > 23 || minute > 59 || second > LEAP || offsetHour > 23 || offsetMinute > 59) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  date.setUTCHours(hour, minute, second, milliseconds);
  const offset = (offsetHour * 60 + offsetMinute) * 60_000;
  const read = new Date(date.getTime() - (parts[8] === '-' ? -offset : offset));
  return second === LEAP && Math.floor(read.getTime() / 1000) % DAY_S !== 0 ? undefined : read;
}
