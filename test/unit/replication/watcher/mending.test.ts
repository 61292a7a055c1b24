import { mongo } from 'mongoose';
import { isDeliverable, mendingOf, type PresentRecord } from '../../../../src/replication/watcher/mending.js';
import { TENANT } from './written.js';

const CLOCK = new Date('2026-11-20T10:00:00.000Z');
const later = (milliseconds: number) => new Date(CLOCK.getTime() + milliseconds);
const record = (fields: object = {}): PresentRecord => ({
  _id: new mongo.ObjectId(),
  ...TENANT,
  id: 'x',
  lastupdated: CLOCK,
  ...fields,
});

describe('no `id`, or one that is no string; no `lastupdated`, or one that is no date or more than a second in the future', () => {
  it('nothing to mend where all is well', () => {
    expect(mendingOf('product', record(), CLOCK)).toBeUndefined();
    expect(mendingOf('member', record({ email: 'A@b.c ', emailkey: 'a@b.c' }), CLOCK)).toBeUndefined();
  });

  it.each([undefined, null, 5, ['x'], { x: 1 }, new mongo.ObjectId()])('id %j', (id) => {
    expect(mendingOf('product', record({ id }), CLOCK)).toEqual({ id: true, stamp: false });
  });

  it.each<[unknown, boolean]>([
    [undefined, true],
    [null, true],
    ['2026-11-20T10:00:00.000Z', true],
    [CLOCK.getTime(), true],
    [[CLOCK], true],
    [new Date(NaN), true],
    [new Date(0), false],
    [later(1000), false],
    [later(1001), true],
  ])('lastupdated %p: %s', (lastupdated, isBad) => {
    expect(mendingOf('product', record({ lastupdated }), CLOCK)).toEqual(
      isBad ? { id: false, stamp: true } : undefined,
    );
  });
});

describe('`emailkey`, where it is missing or no longer fits `data.email`', () => {
  it.each<[string, unknown, unknown, string | null]>([
    ['missing', ' Ann@Example.com', undefined, 'ann@example.com'],
    ['of another e-mail', 'ann@example.com', 'ben@example.com', 'ann@example.com'],
    ['of another type', 'ann@example.com', ['ann@example.com'], 'ann@example.com'],
    ['too much: the e-mail is gone', undefined, 'ann@example.com', null],
    ['too much: the e-mail is blank', '  ', 'ann@example.com', null],
    ['too much: the e-mail is a list', ['ann@example.com'], 'ann@example.com', null],
  ])('%s', (_name, email, emailkey, wanted) => {
    expect(mendingOf('member', record({ email, emailkey }), CLOCK)?.emailkey).toBe(wanted);
  });

  it('products have none', () => {
    expect(mendingOf('product', record({ email: 'ann@example.com' }), CLOCK)).toBeUndefined();
  });
});

it.each<[object, boolean]>([
  [{}, true],
  [{ id: undefined, lastupdated: undefined }, true],
  [{ _id: 'text' }, false],
  [{ _id: 5 }, false],
  [{ organizationid: 5 }, false],
  [{ organizationid: undefined }, false],
  [{ appid: ['shop'] }, false],
])('a record with %j can be delivered: %s', (fields, isOne) => {
  expect(isDeliverable(record(fields))).toBe(isOne);
});
