import { mongo } from 'mongoose';
import { neededRepairOf } from '../../../../../src/replication/watcher/repair/record-repair.js';
import {
  fieldsIn,
  isDeliverable,
  PRESENT_IN_EVERY_KIND,
  type PresentRecord,
} from '../../../../../src/replication/watcher/repair/present-record.js';
import { TENANT } from '../../protocol/written.js';

const record = (fields: Partial<PresentRecord> = {}): PresentRecord => ({
  _id: new mongo.ObjectId(),
  ...TENANT,
  id: 'x',
  isStamped: true,
  emailkey: null,
  email: null,
  channels: [],
  tooLarge: { email: false, channels: false },
  ...fields,
});

describe('no `id`, or one that is not a string; no `lastupdated`, or one that is not a date or more than a second in the future', () => {
  it('nothing to repair where all is well', () => {
    expect(neededRepairOf('product', record())).toBeUndefined();
    expect(neededRepairOf('member', record({ email: 'A@b.c ', emailkey: 'a@b.c' }))).toBeUndefined();
  });

  it.each([null, false] as const)('id %j', (id) => {
    expect(neededRepairOf('product', record({ id }))).toEqual({ id: true, stamp: false });
  });

  it('the stamp', () => {
    expect(neededRepairOf('product', record({ isStamped: false }))).toEqual({ id: false, stamp: true });
  });
});

describe('`emailkey`, where it is missing or no longer fits `data.email`', () => {
  it.each<[string, PresentRecord['email'], PresentRecord['emailkey'], string | null]>([
    ['missing', ' Ann@Example.com', null, 'ann@example.com'],
    ['of another e-mail', 'ann@example.com', 'ben@example.com', 'ann@example.com'],
    ['of another type', 'ann@example.com', false, 'ann@example.com'],
    ['too much: the e-mail is gone', null, 'ann@example.com', null],
    ['too much: the e-mail is blank', '  ', 'ann@example.com', null],
    ['too much: the e-mail is not a string', false, 'ann@example.com', null],
  ])('%s', (_name, email, emailkey, wanted) => {
    expect(neededRepairOf('member', record({ email, emailkey }))?.emailkey).toBe(wanted);
  });

  it('products have none', () => {
    expect(neededRepairOf('product', record({ email: 'ann@example.com' }))).toBeUndefined();
  });
});

it.each<[Partial<PresentRecord>, boolean]>([
  [{}, true],
  [{ id: null, isStamped: false }, true],
  [{ organizationid: false }, false],
  [{ organizationid: null }, false],
  [{ appid: false }, false],
])('a record with %j can be delivered: %s', (fields, isOne) => {
  expect(isDeliverable(record(fields))).toBe(isOne);
});

it('an update of any other field of a product makes the watcher read nothing', () => {
  const checked = ['appid', 'channels', 'id', 'lastupdated', 'organizationid'];
  expect(fieldsIn(PRESENT_IN_EVERY_KIND).toSorted()).toEqual(checked);
});
