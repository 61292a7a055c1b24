import {
  bare,
  batch,
  boolean,
  date,
  document,
  int32,
  list,
  NULL,
  objectId,
  text,
  type Value,
} from './raw-bson.js';
import {
  DELETE,
  FIELDS,
  ID,
  MEMBER,
  MEMBER_WITH_HASH,
  PRODUCT,
  record,
  textOf,
  textOfBatch,
} from './transcript.js';

const ID_TIME = new Date(Number.parseInt(ID.slice(0, 8), 16) * 1000).toISOString();
const ODD = [
  undefined,
  NULL,
  int32(5),
  boolean(1),
  list([text('x')]),
  document([['a', int32(1)]]),
  bare(0x06),
];

const parsed = (fields: Parameters<typeof record>[0], shape = PRODUCT) =>
  JSON.parse(textOf(record(fields), shape)) as Record<string, unknown>;

describe('update item', () => {
  it('has exactly the fields of contract §1, in this order', () => {
    const item =
      '{"id":"A-1","type":"bundle","createDate":"2024-01-02T03:04:05.006Z","createdBy":"erp",' +
      '"lastupdated":"2025-03-04T05:06:07.008Z","data":{"name":"Chair"}';
    expect(textOf(record(), PRODUCT)).toBe(`${item},"channels":[]}`);
    expect(textOf(record(), MEMBER)).toBe(`${item}}`);
  });

  it('has the fields in this order however they are stored', () => {
    const turned = document(Object.entries(FIELDS).reverse());
    expect(textOf(turned)).toBe(textOf(record()));
  });

  it('shows what is missing or of another type plainly', () => {
    for (const odd of ODD) {
      const shown = parsed({ type: odd, createDate: odd, createdBy: odd });
      expect(shown).toMatchObject({ type: 'product', createDate: ID_TIME, createdBy: '' });
      expect(parsed({ type: odd }, MEMBER)['type']).toBe('member');
    }
  });

  it('takes a symbol for text', () => {
    const symbol = text('old', 0x0e);
    expect(parsed({ type: symbol, createdBy: symbol, channels: symbol })).toMatchObject({
      type: 'old',
      createdBy: 'old',
      channels: ['old'],
    });
  });

  it('data is a document, or {}', () => {
    for (const odd of ODD.filter((value) => value?.type !== 0x03))
      expect(parsed({ data: odd })['data']).toEqual({});
    expect(parsed({ data: document([['', int32(0)]]) })['data']).toEqual({ '': 0 });
    expect(parsed({ data: document([]) })['data']).toEqual({});
  });

  it('data that looks like a reference is a plain document', () => {
    const data = document([
      ['a', int32(1)],
      ['$id', objectId(ID)],
      ['$ref', text('people')],
    ]);
    expect(textOf(record({ data }))).toContain(`"data":{"a":1,"$id":"${ID}","$ref":"people"}`);
  });

  it('a creation date has four digits for the year, else it is the time of _id', () => {
    for (const [stored, shown] of [
      ['0000-01-01T00:00:00.000Z', '0000-01-01T00:00:00.000Z'],
      ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
      ['+010000-01-01T00:00:00.000Z', ID_TIME],
      ['-000001-12-31T23:59:59.999Z', ID_TIME],
    ] as const)
      expect(parsed({ createDate: date(Date.parse(stored)) })['createDate']).toBe(shown);
    expect(parsed({ createDate: undefined, _id: objectId('ffffffff0000000000000000') })['createDate']).toBe(
      '2106-02-07T06:28:15.000Z',
    );
  });

  it('channels are texts only, in their order; none where there can be none', () => {
    const mixed = list([int32(1), text('web'), NULL, list([text('x')]), text('shop'), text('old', 0x0e)]);
    expect(parsed({ channels: mixed })['channels']).toEqual(['web', 'shop', 'old']);
    expect(parsed({ channels: mixed }, MEMBER)['channels']).toEqual(['web', 'shop', 'old']);
    expect(parsed({ channels: text('web') }, MEMBER)['channels']).toEqual(['web']);
    expect(parsed({ channels: list([]) }, MEMBER)['channels']).toEqual([]);
    for (const none of [undefined, NULL, int32(5), document([['0', text('web')]])]) {
      expect(parsed({ channels: none })['channels']).toEqual([]);
      expect(parsed({ channels: none }, MEMBER)).not.toHaveProperty('channels');
    }
  });

  it('of a field that is there more than once the first counts, as it does for MongoDB', () => {
    const twice = document([
      ['id', text('B-2')],
      ['data', document([['b', int32(2)]])],
      ['createDate', NULL],
      ...Object.entries(FIELDS),
    ]);
    expect(JSON.parse(textOf(twice))).toMatchObject({ id: 'B-2', data: { b: 2 }, createDate: ID_TIME });
  });

  it('fields whose names only begin or end like those of an item are none', () => {
    const names = Object.keys(FIELDS).filter((name) => name !== '_id');
    const near = names.flatMap((name) => [`${name}x`, name.slice(0, -1), `x${name.slice(1)}`]);
    const odd = Object.fromEntries(near.map((name) => [name, text('wrong')]));
    expect(textOf(record(odd))).toBe(textOf(record()));
  });

  it.each<[string, Record<string, Value | undefined>]>([
    ['no id', { id: undefined }],
    ['an id that is neither text nor number', { id: boolean(1) }],
    ['a list in place of the id', { id: list([text('A-1')]) }],
    ['no stamp', { lastupdated: undefined }],
    ['a stamp that is not a date', { lastupdated: text('x') }],
    ['a list in place of the stamp', { lastupdated: list([FIELDS.lastupdated]) }],
    ['a list in place of the application', { appid: list([text('webshop')]) }],
    ['a list in place of the organization', { organizationid: list([text('acme')]) }],
  ])('a record with %s cannot be delivered: it is passed over', (_name, odd) => {
    for (const shape of [PRODUCT, MEMBER, DELETE]) {
      expect(textOf(record(odd), shape)).toBe('');
      const between = batch(record(), record(odd), record());
      expect(textOfBatch(between, shape)).toBe(textOfBatch(batch(record(), record()), shape));
    }
  });
});

describe('passwordhash', () => {
  const data = document([
    ['passwordhash', text('secret')],
    ['passwordhashes', int32(1)],
    ['nested', document([['passwordhash', text('of no concern')]])],
    ['passwordhash', document([['a', text('secret')]])],
  ]);
  const shown = '{"passwordhashes":1,"nested":{"passwordhash":"of no concern"}}';

  it('of a member is hidden, wherever it stands in data, unless the settings show it', () => {
    expect(textOf(record({ data }), MEMBER)).toContain(`"data":${shown}`);
    expect(textOf(record({ data }), MEMBER_WITH_HASH)).toContain('"data":{"passwordhash":"secret",');
    expect(textOf(record({ data }), PRODUCT)).toContain('"data":{"passwordhash":"secret",');
  });

  it('alone in data leaves it empty', () => {
    const only = document([['passwordhash', text('secret')]]);
    expect(textOf(record({ data: only }), MEMBER)).toContain('"data":{}');
  });
});

describe('delete item', () => {
  it('has exactly id and lastUpdated', () => {
    const text = '{"id":"A-1","lastUpdated":"2025-03-04T05:06:07.008Z"}';
    expect(textOf(record(), DELETE)).toBe(text);
    expect(textOfBatch(batch(record(), record()), DELETE)).toBe(`${text},${text}`);
  });
});
