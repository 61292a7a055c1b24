import fc from 'fast-check';
import { mongo } from 'mongoose';
import {
  cursorOf,
  type ChangesPlace,
  parsePlace,
  SECTIONS,
} from '../../../../../../src/replication/feed/page/changes-lines.js';

const date = fc.date({
  min: new Date('0000-01-01T00:00:00.000Z'),
  max: new Date('9999-12-31T23:59:59.999Z'),
  noInvalidDate: true,
});
const id = fc.uint8Array({ minLength: 12, maxLength: 12 }).map((bytes) => new mongo.ObjectId(bytes));
const within = fc.record({
  from: fc.option(date, { nil: undefined }),
  to: date,
  toIsClock: fc.boolean(),
  section: fc.constantFrom(...SECTIONS),
  lastoffsetid: id,
  withDeletes: fc.boolean(),
});
const place: fc.Arbitrary<ChangesPlace> = fc.oneof(within, fc.record({ from: date }));

it('is read as what it was written of, and goes into a URL as it is', () => {
  fc.assert(
    fc.property(place, (one) => {
      const text = cursorOf('feed', one);
      expect(encodeURIComponent(text)).toBe(text);
      expect(parsePlace('feed', text)).toEqual({ value: one });
    }),
  );
});

it('one of another feed is told so', () => {
  fc.assert(
    fc.property(place, fc.string(), (one, other) => {
      fc.pre(other !== 'feed');
      const parsed = parsePlace('feed', cursorOf(other, one));
      expect(parsed).toEqual({ error: expect.stringContaining('is a cursor of another feed') });
    }),
  );
});

it('whatever else comes is refused by a sentence', () => {
  const known = cursorOf('feed', { from: new Date(0) });
  const odd = fc.oneof(
    fc.string(),
    fc.constantFrom(
      '',
      '6740a1b2c3d4e5f601234567',
      `${known}.`,
      `${known.slice(0, 13)}-`,
      `${known}zzzzzzzzzz`,
    ),
  );
  fc.assert(
    fc.property(odd, (text) => {
      expect(parsePlace('feed', text)).toEqual({
        error: expect.stringMatching(/ is not a cursor of changes\. Send /),
      });
    }),
  );
});
