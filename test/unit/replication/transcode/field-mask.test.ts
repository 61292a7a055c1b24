import type { ShownFields } from '../../../../src/application/index.js';
import { canonicalText } from '../../../../src/record/index.js';
import {
  fieldMask,
  giveBack,
  type ItemShape,
  itemsText,
} from '../../../../src/replication/transcode/index.js';
import {
  batch,
  binary,
  document,
  double,
  int32,
  int64,
  list,
  NULL,
  regExp,
  text,
  type Value,
} from './raw-bson.js';
import { hashOf, MEMBER, PRODUCT, record, shapeOf, textOf, textOfBatch } from './transcript.js';

const MEGABYTE = 1024 * 1024;

/** The item of a record with this data and these fields. */
function shown(data: [string, Value][], fields: ShownFields): unknown {
  return JSON.parse(textOf(record({ data: document(data) }), shapeOf(fields)));
}

const ALWAYS = {
  id: 'A-1',
  type: 'bundle',
  createDate: '2024-01-02T03:04:05.006Z',
  lastupdated: '2025-03-04T05:06:07.008Z',
};
const REST = { ...ALWAYS, createdBy: 'erp', channels: [] };

describe('The fields of a service', () => {
  const address = document([
    ['street', text('Main Street')],
    ['city', text('Ulm')],
  ]);
  const rows = list([
    document([
      ['sku', text('A')],
      ['price', int32(1)],
    ]),
    int32(5),
    list([document([['price', int32(2)]])]),
    document([['price', int32(3)]]),
  ]);
  const data: [string, Value][] = [
    ['name', text('Ann')],
    ['address', address],
    ['rows', rows],
  ];
  const whole = {
    name: 'Ann',
    address: { street: 'Main Street', city: 'Ulm' },
    rows: [{ sku: 'A', price: 1 }, 5, [{ price: 2 }], { price: 3 }],
  };

  it.each<[ShownFields, object]>([
    [{}, { ...REST, data: whole }],
    [{ except: ['data.name'] }, { ...REST, data: { address: whole.address, rows: whole.rows } }],
    [{ only: ['data.name'] }, { ...ALWAYS, data: { name: 'Ann' } }],
    [{ only: ['data.name', 'createdBy', 'channels'] }, { ...REST, data: { name: 'Ann' } }],
    [{ only: [] }, { ...ALWAYS, data: {} }],
    [{ only: ['createdBy'] }, { ...ALWAYS, createdBy: 'erp', data: {} }],
    [{ except: ['createdBy', 'channels'] }, { ...ALWAYS, data: whole }],
    [
      { except: ['data.address.street', 'data.address.city'] },
      { ...REST, data: { name: 'Ann', address: {}, rows: whole.rows } },
    ],
    [{ only: ['data.address.zip'] }, { ...ALWAYS, data: { address: {} } }],
    [{ only: ['data.name.first'] }, { ...ALWAYS, data: {} }],
    [{ except: ['data.rows.price'] }, { ...REST, data: { ...whole, rows: [{ sku: 'A' }, 5, [{}], {}] } }],
    [{ only: ['data.rows.sku'] }, { ...ALWAYS, data: { rows: [{ sku: 'A' }, null, [{}], {}] } }],
    [{ only: ['data.rows', 'data.rows.sku'] }, { ...ALWAYS, data: { rows: whole.rows } }],
    [{ hash: ['data.name'] }, { ...REST, data: { ...whole, name: hashOf('"Ann"') } }],
    [
      { only: ['data.name'], hash: ['data.address.city'] },
      { ...ALWAYS, data: { name: 'Ann', address: { city: hashOf('"Ulm"') } } },
    ],
    [
      { hash: ['data.address', 'createdBy', 'channels'] },
      {
        ...ALWAYS,
        createdBy: hashOf('"erp"'),
        channels: hashOf('[]'),
        data: { ...whole, address: hashOf('{"city":"Ulm","street":"Main Street"}') },
      },
    ],
    [
      { hash: ['data.rows.price'] },
      {
        ...REST,
        data: {
          ...whole,
          rows: [{ sku: 'A', price: hashOf('1') }, 5, [{ price: hashOf('2') }], { price: hashOf('3') }],
        },
      },
    ],
  ])('%j leave of an item what they allow', (fields, item) => {
    expect(shown(data, fields)).toEqual(item);
  });

  it('hash equal values equally, whatever their BSON type', () => {
    const values = [int32(5), int64(5n), double(5)];
    const hashes = values.map((value) => shown([['v', value]], { hash: ['data.v'] }));
    expect(hashes).toEqual(hashes.map(() => ({ ...REST, data: { v: hashOf('5') } })));
    expect(shown([['v', NULL]], { hash: ['data.v'] })).toEqual({ ...REST, data: { v: hashOf('null') } });
    const large = 2n ** 62n + 1n;
    expect(shown([['v', int64(large)]], { hash: ['data.v'] })).toEqual({
      ...REST,
      data: { v: hashOf(String(large)) },
    });
  });

  it('never show the password hash that the application hides, not even hashed', () => {
    const stored = record({ data: document([['passwordhash', text('$argon2id$')]]) });
    for (const fields of [{ only: ['data.passwordhash'] }, { hash: ['data.passwordhash'] }]) {
      const item = JSON.parse(textOf(stored, shapeOf(fields, MEMBER))) as { data: unknown };
      expect(item.data).toEqual({});
    }
  });

  it('refuse to show a value whose hash has no key', () => {
    const shape = { ...PRODUCT, mask: fieldMask({ hash: ['data.name'] }) } as ItemShape;
    expect(() => textOf(record(), shape)).toThrow('A hash needs a key');
  });

  it('have a place for each of many names', () => {
    const names = Array.from({ length: 200 }, (_, index) => `n${index}`);
    const all = names.map((name): [string, Value] => [name, int32(1)]);
    for (const left of [names, names.slice(0, 199), names.slice(100)]) {
      const except = left.map((name) => `data.${name}`);
      const rest = names.filter((name) => !left.includes(name));
      const { data: seen } = shown(all, { except }) as { data: object };
      expect(Object.keys(seen)).toEqual(rest);
    }
  });

  it('of a record too large to be held are the same', () => {
    const large = document([
      ['rows', list([document([['secret', text('@'.repeat(100))]]), text('é'.repeat(2 * MEGABYTE))])],
      ['secret', text('@')],
      ['v', text('x')],
    ]);
    const fields = { except: ['data.secret', 'data.rows.secret'], hash: ['data.v'] };
    const item = textOf(record({ data: large }), shapeOf(fields));
    expect(item).not.toContain('@');
    expect(JSON.parse(item)).toEqual({
      ...REST,
      data: { rows: [{}, 'é'.repeat(2 * MEGABYTE)], v: hashOf('"x"') },
    });
  });

  it('leave no byte of an earlier page in a buffer that is used again', () => {
    const poison = '@';
    const many = Array.from({ length: 400 }, () =>
      record({ data: document([['v', text('v'.repeat(900))]]) }),
    );
    for (const { pieces } of itemsText(batch(...many), PRODUCT))
      for (const piece of pieces) {
        new Uint8Array(piece.buffer).fill(poison.charCodeAt(0));
        giveBack(piece);
      }
    const text400 = textOfBatch(batch(...many), shapeOf({ except: ['data.w'] }));
    expect(text400).not.toContain(poison);
    expect(JSON.parse(`[${text400}]`)).toHaveLength(400);
  });
});

describe('A hash is that of the value as an item shows it, also of', () => {
  const five = ['$id', int32(5)] as const;
  it.each<[string, Value]>([
    ['a document that looks like a reference', document([['$ref', text('shop.items')], five])],
    ['the same with a null', document([['$ref', text('items')], five, ['$db', NULL]])],
    ['one with another within it', list([document([['a', document([['$ref', text('a.b')], five])]])])],
    ['a regular expression that drivers refuse, within others', document([['a', regExp('x', 'g')]])],
    ['an old binary whose second length is wrong', list([binary(Buffer.from('abcdefgh'), 2)])],
    ['an old binary', document([['a', binary(Buffer.from([2, 0, 0, 0, 1, 2]), 2)]])],
  ])('%s', (_what, value) => {
    const data: [string, Value][] = [['x', value]];
    const { data: plain } = JSON.parse(textOf(record({ data: document(data) }))) as { data: { x: unknown } };
    expect(shown(data, { hash: ['data.x'] })).toEqual({
      ...REST,
      data: { x: hashOf(canonicalText(plain.x)) },
    });
  });
});
