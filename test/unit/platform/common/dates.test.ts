import fc from 'fast-check';
import { parseDate, shown } from '../../../../src/platform/common/index.js';
import { runs } from '../../../support/runs.js';

const EARLIEST = new Date('0000-01-01T00:00:00.000Z');
const LATEST = new Date('9999-12-31T23:59:59.999Z');
const anyDate = fc.date({ min: EARLIEST, max: LATEST, noInvalidDate: true });

const pad = (value: number, digits = 2) => String(value).padStart(digits, '0');

function valueOf(text: string): Date {
  const parsed = parseDate(text);
  if ('error' in parsed) throw new Error(parsed.error);
  return parsed.value;
}

/** The calendar, told apart from the one that the parser uses. */
function exists(year: number, month: number, day: number): boolean {
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  return day >= 1 && day <= (days[month - 1] ?? 0);
}

describe('a date-time', () => {
  it('any that Date writes is read back', () => {
    fc.assert(
      fc.property(anyDate, (date) => {
        expect(valueOf(date.toISOString())).toEqual(date);
        expect(valueOf(date.toISOString().toLowerCase())).toEqual(date);
      }),
    );
  });

  it('0 to 9 fraction digits are cut to ms', () => {
    fc.assert(
      fc.property(anyDate, fc.stringMatching(/^\d{1,9}$/), (date, digits) => {
        const second = date.toISOString().slice(0, 19);
        const cut = Number(digits.padEnd(3, '0').slice(0, 3));
        expect(valueOf(`${second}.${digits}Z`).toISOString()).toBe(`${second}.${pad(cut, 3)}Z`);
        expect(valueOf(`${second}Z`).toISOString()).toBe(`${second}.000Z`);
      }),
    );
  });

  it('with ±hh:mm is the same moment as with Z', () => {
    const offsets = fc.tuple(fc.constantFrom('+', '-'), fc.nat(23), fc.nat(59));
    fc.assert(
      fc.property(anyDate, offsets, (date, [sign, hours, minutes]) => {
        const ahead = (sign === '+' ? 1 : -1) * (hours * 60 + minutes) * 60_000;
        const local = new Date(date.getTime() + ahead);
        fc.pre(local >= EARLIEST && local <= LATEST);
        const text = `${local.toISOString().slice(0, -1)}${sign}${pad(hours)}:${pad(minutes)}`;
        expect(valueOf(text)).toEqual(date);
      }),
    );
  });

  it('outside the years 0000 to 9999 by its offset is refused', () => {
    for (const text of ['0000-01-01T00:00:00+00:01', '9999-12-31T23:59:59-00:01']) {
      const parsed = parseDate(text);
      expect('error' in parsed && parsed.error).toContain('lies outside the years 0000 to 9999');
    }
  });

  it('of a leap second is the next second; no other minute has one', () => {
    expect(valueOf('2016-12-31T23:59:60Z')).toEqual(new Date('2017-01-01T00:00:00.000Z'));
    expect(valueOf('2016-12-31T23:59:60.25Z')).toEqual(new Date('2017-01-01T00:00:00.250Z'));
    expect(valueOf('2017-01-01T00:59:60+01:00')).toEqual(new Date('2017-01-01T00:00:00.000Z'));
    for (const text of ['2016-12-31T23:58:60Z', '2017-01-01T00:59:60Z', '2016-12-31T23:59:61Z'])
      expect(parseDate(text)).toHaveProperty('error');
  });

  it('has hours to 23, minutes and seconds to 59', () => {
    fc.assert(
      fc.property(fc.nat(99), fc.nat(99), fc.nat(99), (hour, minute, second) => {
        const parsed = parseDate(`2025-01-01T${pad(hour)}:${pad(minute)}:${pad(second)}Z`);
        const isLeap = hour === 23 && minute === 59 && second === 60;
        expect('value' in parsed).toBe(isLeap || (hour <= 23 && minute <= 59 && second <= 59));
      }),
    );
  });
});

describe('a date', () => {
  it('is midnight UTC, and only what the calendar has is one', () => {
    fc.assert(
      fc.property(fc.nat(9999), fc.nat(14), fc.nat(33), (year, month, day) => {
        const text = `${pad(year, 4)}-${pad(month)}-${pad(day)}`;
        const parsed = parseDate(text);
        expect('value' in parsed).toBe(exists(year, month, day));
        if ('value' in parsed) expect(parsed.value.toISOString()).toBe(`${text}T00:00:00.000Z`);
      }),
      { numRuns: runs(1000) },
    );
  });
});

describe('anything else', () => {
  const nearly = fc.stringMatching(/^[0-9TtZz:.+ -]{0,30}$/);

  it('is refused with a sentence that shows what came and an example', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), nearly), (text) => {
        const parsed = parseDate(text);
        if ('value' in parsed) return;
        expect(parsed.error.startsWith(`"${shown(text)}" `)).toBe(true);
        expect(parsed.error).toMatch(/2026-11-20T10:00:00\.000Z|encode \+ as %2B/);
      }),
    );
  });

  it('what is taken is what Date takes as well', () => {
    const text = fc.stringMatching(
      /^20[0-3]\d-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-6]\d(\.\d{3})?(Z|[+-][01]\d:[0-5]\d)$/,
    );
    fc.assert(
      fc.property(text, (sent) => {
        const parsed = parseDate(sent);
        if ('value' in parsed) expect(parsed.value.getTime()).toBe(Date.parse(sent));
      }),
      { numRuns: runs(1000) },
    );
  });

  it('a blank in place of the + gets a sentence of its own', () => {
    fc.assert(
      fc.property(anyDate, fc.nat(23), fc.nat(59), (date, hours, minutes) => {
        const text = `${date.toISOString().slice(0, -1)} ${pad(hours)}:${pad(minutes)}`;
        const parsed = parseDate(text);
        expect(parsed).toEqual({
          error: `"${text}" has a blank where a + must have been: encode + as %2B.`,
        });
      }),
    );
  });

  it('a blank in place of the T does not', () => {
    for (const text of ['2025-03-04 05:06', '2025-03-04 05:06:07Z', '2025-03-04 05:06:07'])
      expect(parseDate(text)).toEqual({ error: expect.stringContaining('is not a date') });
  });
});

describe('shown', () => {
  it('is the text, or its beginning where it is long', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (text) => {
        expect(shown(text)).toBe(text.length <= 80 ? text : `${text.slice(0, 80)}…`);
      }),
    );
  });
});
