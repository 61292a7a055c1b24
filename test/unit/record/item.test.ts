import fc from 'fast-check';
import mongoose from 'mongoose';
import type { Kind } from '../../../src/kinds/index.js';
import { channelsOf, updateItemText } from '../../../src/record/item.js';

const { BSON } = mongoose.mongo;
const HIDDEN = { withPasswordHash: false };
const SHOWN = { withPasswordHash: true };
const _id = new BSON.ObjectId('6740a1b2c3d4e5f601234567');
const stored = {
  _id,
  organizationid: 'acme',
  appid: 'webshop',
  id: 'A-1',
  type: 'bundle',
  createDate: new Date('2024-01-02T03:04:05.006Z'),
  createdBy: 'erp',
  lastupdated: new Date('2025-03-04T05:06:07.008Z'),
  data: { name: 'Chair' },
};

const item = (kind: Kind, fields: object, options = HIDDEN) =>
  JSON.parse(updateItemText(kind, { ...stored, ...fields }, options)) as Record<string, unknown>;

describe('update item', () => {
  it('has exactly the fields of contract §1, in this order', () => {
    expect(updateItemText('product', stored, HIDDEN)).toBe(
      '{"id":"A-1","type":"bundle","createDate":"2024-01-02T03:04:05.006Z","createdBy":"erp",' +
        '"lastupdated":"2025-03-04T05:06:07.008Z","data":{"name":"Chair"},"channels":[]}',
    );
    expect(Object.keys(item('member', {}))).not.toContain('channels');
    expect(item('member', { channels: ['web'] })['channels']).toEqual(['web']);
  });

  it('shows what is missing or of another type plainly', () => {
    fc.assert(
      fc.property(fc.constantFrom(undefined, null, 5, true, ['x'], [new Date()], { a: 1 }), (odd) => {
        const shown = item('member', { type: odd, createDate: odd, createdBy: odd });
        expect(shown).toMatchObject({
          type: 'member',
          createDate: _id.getTimestamp().toISOString(),
          createdBy: '',
        });
      }),
    );
  });

  it('data is a document, or {}', () => {
    const odd = [undefined, null, 5, 'x', ['x'], new Date(), _id, new BSON.Binary(), new BSON.Code('x'), 5n];
    for (const data of odd) expect(item('product', { data })['data']).toEqual({});
    expect(item('product', { data: { '': 0 } })['data']).toEqual({ '': 0 });
  });

  it('a timestamp has four digits for the year', () => {
    for (const [createDate, shown] of [
      ['0000-01-01T00:00:00.000Z', '0000-01-01T00:00:00.000Z'],
      ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
      ['+010000-01-01T00:00:00.000Z', _id.getTimestamp().toISOString()],
      ['-000001-12-31T23:59:59.999Z', _id.getTimestamp().toISOString()],
      ['no date', _id.getTimestamp().toISOString()],
    ] as const)
      expect(item('product', { createDate: new Date(createDate) })['createDate']).toBe(shown);
  });
});

describe('passwordhash', () => {
  const secret = { passwordhash: 'secret', nested: { passwordhash: 'of no concern' } };

  it('of a member is hidden unless the settings show it', () => {
    expect(item('member', { data: secret })['data']).toEqual({ nested: secret.nested });
    expect(item('member', { data: secret }, SHOWN)['data']).toEqual(secret);
    expect(item('product', { data: secret })['data']).toEqual(secret);
  });

  it('is hidden in data that the driver takes for a reference', () => {
    const data = new BSON.DBRef('people', _id, undefined, { passwordhash: 'secret', a: 1 });
    expect(item('member', { data })['data']).toEqual({ $ref: 'people', $id: _id.toHexString(), a: 1 });
    expect(item('member', { data }, SHOWN)['data']).toMatchObject({ passwordhash: 'secret' });
  });

  it('hiding it takes nothing else away, and does not touch the record', () => {
    const data = Object.freeze(JSON.parse('{"__proto__":{"a":1},"passwordhash":"secret","b":2}') as object);
    expect(updateItemText('member', { ...stored, data }, HIDDEN)).toContain(
      '"data":{"__proto__":{"a":1},"b":2}',
    );
    expect(data).toHaveProperty('passwordhash');
  });
});

describe('channelsOf', () => {
  it('texts only, in their order; nothing where none can be', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.string(), fc.integer(), fc.constant(null), fc.array(fc.string()))),
        (list) => {
          expect(channelsOf(list)).toEqual(list.filter((one) => typeof one === 'string'));
        },
      ),
    );
    expect(channelsOf('web')).toEqual(['web']);
    for (const none of [undefined, null, 5, { 0: 'web' }]) expect(channelsOf(none)).toBeUndefined();
  });
});
