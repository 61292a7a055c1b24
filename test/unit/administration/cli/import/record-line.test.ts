import { parseRecordLine } from '../../../../../src/administration/cli/import/lines.js';
import type { Kind } from '../../../../../src/kinds/index.js';

const parse = (line: unknown, kind: Kind = 'product') =>
  parseRecordLine(kind, typeof line === 'string' ? line : JSON.stringify(line));

describe('import lines {id, data, channels?, type?, createDate?, createdBy?} (contract §5)', () => {
  it('give what they say, and nothing more', () => {
    expect(parse({ id: 'a', data: { price: 1 } })).toEqual({ value: { id: 'a', data: { price: 1 } } });
    const whole = {
      id: 'a',
      data: {},
      channels: ['web'],
      type: 'bundle',
      createDate: '2026-01-01',
      createdBy: 'erp',
    };
    expect(parse(whole)).toEqual({ value: { ...whole, createDate: new Date('2026-01-01') } });
  });

  it('keep dates in data as texts, and text that looks like an operator as text', () => {
    const data = { since: '2026-01-01T00:00:00Z', $set: '$$ROOT', 'a.b': { $date: '2026-01-01' } };
    expect(parse({ id: 'a', data })).toEqual({ value: { id: 'a', data } });
  });

  it('of members give the form in which their e-mail is unique', () => {
    const line = { id: 'a', data: { accountnumber: '1', email: ' Ada@Example.org ' }, type: 'member' };
    expect(parse(line, 'member')).toEqual({ value: { ...line, emailkey: 'ada@example.org' } });
    const product = { ...line, type: 'product' };
    expect(parse(product, 'product')).toEqual({ value: product });
    const odd = { id: 'a', data: { accountnumber: 7, email: 5 } };
    expect(parse(odd, 'member')).toEqual({ value: odd });
  });

  it.each<[unknown, string]>([
    ['x', 'is not JSON'],
    ['{"id":"a"', 'is not JSON'],
    ['null', 'is not an object'],
    ['[1]', 'is not an object'],
    [{ data: {} }, 'id is missing'],
    [{ id: 'a' }, 'data is missing'],
    [{ id: '', data: {} }, 'id must be a string that is not empty'],
    [{ id: 5, data: {} }, 'id must be a string that is not empty'],
    [{ id: 'a', data: null }, 'data must be an object'],
    [{ id: 'a', data: [] }, 'data must be an object'],
    [{ id: 'a', data: {}, channels: 'web' }, 'channels must be an array of strings'],
    [{ id: 'a', data: {}, channels: ['web', 5] }, 'channels must be an array of strings'],
    [{ id: 'a', data: {}, type: '' }, 'type must be a string that is not empty'],
    [{ id: 'a', data: {}, createDate: 'yesterday' }, 'createDate "yesterday" is not a date'],
    [{ id: 'a', data: {}, createDate: 5 }, 'createDate must be a date as a string'],
    [{ id: 'a', data: {}, createdBy: null }, 'createdBy must be a string'],
    [{ id: 'a', data: {}, lastupdated: '2026-01-01' }, 'has an unknown property "lastupdated"'],
    [{ id: 'a', data: {}, emailkey: 'x' }, 'has an unknown property "emailkey"'],
    [{ id: 'a', data: { _bsontype: 'x' } }, 'data._bsontype is a name that the driver reserves'],
    [{ id: 'a', data: { list: [{ _bsontype: null }] } }, 'data.list.0._bsontype is a name that the driver'],
    ['{"id":"a","data":{"\\u005fbsontype":{}}}', 'data._bsontype is a name that the driver'],
    ['{"id":"a","data":{},"__proto__":{}}', 'has an unknown property "__proto__"'],
    ['{"id":"a","data":{},"constructor":{}}', 'has an unknown property "constructor"'],
  ])('%j is a bad line', (line, reason) => {
    expect(parse(line)).toEqual({ error: expect.stringContaining(reason) as string });
  });
});

describe('a line of the other kind is noticed', () => {
  const number = { accountnumber: '4711' };
  const both = { ...number, email: 'ada@example.org' };

  it.each<[Kind, object, string]>([
    ['member', { data: {} }, 'has no data.accountnumber, which members have'],
    ['member', { data: { name: 'Tent', email: 'x@y' } }, 'has no data.accountnumber, which members have'],
    ['member', { data: { accountnumber: null } }, 'has no data.accountnumber, which members have'],
    ['member', { data: { accountnumber: '' } }, 'has no data.accountnumber, which members have'],
    ['member', { data: {}, type: 'vip' }, 'has no data.accountnumber, which members have'],
    ['member', { data: both, type: 'product' }, 'has the type "product"'],
    ['product', { data: both }, 'has data.accountnumber and data.email, as members have'],
    ['product', { data: {}, type: 'member' }, 'has the type "member"'],
  ])('as a %s: %j', (kind, line, error) => {
    const other = kind === 'member' ? 'product' : 'member';
    const hint = `is it a ${other}? Then import it with --kind ${other}. If it is a ${kind}, give it "type": "${kind}"`;
    expect(parse({ id: 'a', ...line }, kind)).toEqual({ error, hint });
  });

  it.each<[Kind, object]>([
    ['member', { data: number }],
    ['member', { data: { accountnumber: 0 } }],
    ['member', { data: number, type: 'vip' }],
    ['member', { data: {}, type: 'member' }],
    ['product', { data: {} }],
    ['product', { data: number }],
    ['product', { data: { email: 'shop@example.org' } }],
    ['product', { data: { ...both, email: null } }],
    ['product', { data: both, type: 'product' }],
    ['product', { data: { accountnumber: 1 }, type: 'bundle' }],
  ])('not so as a %s: %j', (kind, line) => {
    expect(parse({ id: 'a', ...line }, kind)).toEqual({
      value: expect.objectContaining({ id: 'a' }) as unknown,
    });
  });
});
