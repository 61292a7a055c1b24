import mongoose from 'mongoose';
import { Problem } from '../../../../src/platform/http/index.js';
import { decode } from '../../../../src/member/stored-member.js';
import { type BsonDocument, type Change, mergeMember, REMOVED } from '../../../../src/member/merge.js';
import type { PatchMember } from '../../../../src/member/bodies.js';

const { BSON, Decimal128, Double, Long } = mongoose.mongo;

const stored = (record: object): BsonDocument => decode(BSON.serialize(record, { ignoreUndefined: false }));
const manyOf = <T>(count: number, value: T) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, value]));

/** Changes as `path: value`, with Maps as objects. */
function changesOf(record: object, patch: PatchMember): Record<string, unknown> {
  const plain = (value: unknown): unknown =>
    value instanceof Map
      ? Object.fromEntries([...value].map(([name, inner]) => [name, plain(inner)]))
      : value;
  const changes: Change[] = mergeMember(stored(record), patch);
  return Object.fromEntries(changes.map(({ path, value }) => [path.join('/'), plain(value)]));
}

const ANN = {
  data: {
    accountnumber: '4711',
    email: 'ann@example.com',
    elevel: 2,
    contactname: 'Ann',
    extrafields: { shop: { size: 'M', newsletter: true }, '2024': { '10': 'a' } },
  },
  channels: ['web', 'shop'],
};

describe('only the properties present change', () => {
  it('names what changes and nothing beside it', () => {
    expect(changesOf(ANN, { contactname: 'Bea', elevel: 3 })).toEqual({
      'data/elevel': 3,
      'data/contactname': 'Bea',
    });
  });

  it('extrafields merges by section and property', () => {
    const extrafields = { shop: { size: 'L', colour: 'red' }, '2024': { '2': false }, erp: { x: 'y' } };
    expect(changesOf(ANN, { extrafields })).toEqual({
      'data/extrafields/shop/size': 'L',
      'data/extrafields/shop/colour': 'red',
      'data/extrafields/2024/2': false,
      'data/extrafields/erp': { x: 'y' },
    });
  });

  it('channels are replaced as a whole', () => {
    expect(changesOf(ANN, { channels: ['web'] })).toEqual({ channels: ['web'] });
    expect(changesOf(ANN, { channels: [] })).toEqual({ channels: [] });
  });

  it('a new e-mail brings its key along', () => {
    expect(changesOf(ANN, { email: 'Bea@Example.com' })).toEqual({
      'data/email': 'Bea@Example.com',
      emailkey: 'bea@example.com',
    });
  });
});

describe('null or "" deletes the stored value', () => {
  it.each([null, '' as const])('%j', (nothing) => {
    expect(
      changesOf(ANN, { contactname: nothing, elevel: nothing, channels: nothing, passwordhash: nothing }),
    ).toEqual({ 'data/contactname': REMOVED, 'data/elevel': REMOVED, channels: REMOVED });
    expect(changesOf(ANN, { extrafields: nothing })).toEqual({ 'data/extrafields': REMOVED });
  });

  it('deeper null deletes deeper', () => {
    expect(changesOf(ANN, { extrafields: { shop: { size: null, newsletter: '' }, '2024': null } })).toEqual({
      'data/extrafields/shop/size': REMOVED,
      'data/extrafields/shop/newsletter': REMOVED,
      'data/extrafields/2024': REMOVED,
    });
  });

  it('creates nothing to delete it', () => {
    const extrafields = { erp: { x: null }, gone: null, shop: { colour: '' } };
    expect(changesOf(ANN, { extrafields })).toEqual({});
    expect(changesOf({ data: {} }, { extrafields })).toEqual({});
    expect(changesOf({ data: {} }, { extrafields: { ...extrafields, new: { a: 'b', c: null } } })).toEqual({
      'data/extrafields': { new: { a: 'b' } },
    });
  });
});

describe('a patch that changes nothing', () => {
  it.each<PatchMember>([
    {},
    {
      accountnumber: '4711',
      email: 'ann@example.com',
      elevel: 2,
      contactname: 'Ann',
      channels: ['web', 'shop'],
    },
    { passwordhash: null },
    { extrafields: {} },
    { extrafields: { shop: {} } },
    { extrafields: { shop: { size: 'M', newsletter: true }, '2024': { '10': 'a' } } },
  ])('%j', (patch) => {
    expect(mergeMember(stored(ANN), patch)).toEqual([]);
  });

  it.each([new Double(5), Long.fromNumber(5), Decimal128.fromString('5.0')])('finds 5 in %s', (elevel) => {
    expect(changesOf({ data: { elevel } }, { elevel: 5 })).toEqual({});
    expect(changesOf({ data: { elevel } }, { elevel: 6 })).toEqual({ 'data/elevel': 6 });
  });

  it('does not take a text for a number, nor a number for a text', () => {
    expect(changesOf({ data: { elevel: '5', contactname: 5 } }, { elevel: 5, contactname: '5' })).toEqual({
      'data/elevel': 5,
      'data/contactname': '5',
    });
  });
});

describe('records that other programs wrote oddly', () => {
  it.each([undefined, null, 'text', 5, [{ contactname: 'x' }]])(
    'data is %j: the patch takes its place',
    (data) => {
      const record = data === undefined ? {} : { data };
      expect(changesOf(record, { contactname: 'Ann', elevel: null })).toEqual({
        data: { contactname: 'Ann' },
      });
      expect(changesOf(record, { contactname: null })).toEqual({});
      expect(changesOf(record, { channels: ['web'] })).toEqual({ channels: ['web'] });
      expect(changesOf(record, {})).toEqual({});
    },
  );

  it.each([null, 'text', [{ shop: {} }], [['shop', 'x']]])('extrafields is %j', (extrafields) => {
    const record = { data: { extrafields } };
    expect(changesOf(record, { extrafields: { shop: { size: 'M', a: null } } })).toEqual({
      'data/extrafields': { shop: { size: 'M' } },
    });
    expect(changesOf(record, { extrafields: { shop: { size: null } } })).toEqual({});
    expect(changesOf(record, { extrafields: null })).toEqual({ 'data/extrafields': REMOVED });
  });

  it.each(['text', [{ size: 'M' }], true])('a section is %j', (shop) => {
    const record = { data: { extrafields: { shop } } };
    expect(changesOf(record, { extrafields: { shop: { size: 'L' } } })).toEqual({
      'data/extrafields/shop': { size: 'L' },
    });
    expect(changesOf(record, { extrafields: { shop: null } })).toEqual({ 'data/extrafields/shop': REMOVED });
  });

  it('channels are a text', () => {
    expect(changesOf({ channels: 'web' }, { channels: ['web'] })).toEqual({ channels: ['web'] });
    expect(changesOf({ channels: ['web', 5] }, { channels: ['web', '5'] })).toEqual({
      channels: ['web', '5'],
    });
  });
});

describe('at most 100 sections of 200 properties, also together with those stored', () => {
  const pointersOf = (extrafields: object, patch: PatchMember['extrafields']): unknown[] => {
    try {
      mergeMember(stored({ data: { extrafields } }), { extrafields: patch ?? null });
      return [];
    } catch (error) {
      expect(error).toBeInstanceOf(Problem);
      return ((error as Problem).extras.errors ?? []).map((one) => 'pointer' in one && one.pointer);
    }
  };

  it('sections', () => {
    expect(pointersOf(manyOf(100, {}), { one: {} })).toEqual(['/extrafields']);
    expect(pointersOf(manyOf(100, {}), { one: {}, n0: null })).toEqual([]);
    expect(pointersOf(manyOf(100, {}), { n0: { a: 'b' }, one: null, two: { a: null } })).toEqual([]);
    expect(pointersOf(manyOf(99, {}), { one: {} })).toEqual([]);
  });

  it('properties', () => {
    expect(pointersOf({ 'a/b': manyOf(200, 'x') }, { 'a/b': { one: 'y' } })).toEqual(['/extrafields/a~1b']);
    expect(pointersOf({ shop: manyOf(200, 'x') }, { shop: { one: 'y', n1: '' } })).toEqual([]);
    expect(pointersOf({ shop: manyOf(200, 'x') }, { shop: { n1: true } })).toEqual([]);
  });

  it('what other programs stored beyond that may stay and shrink, not grow', () => {
    expect(pointersOf(manyOf(150, {}), { n1: { a: 'b' }, n2: null })).toEqual([]);
    expect(pointersOf(manyOf(150, {}), { n1: null, one: {} })).toEqual([]);
    expect(pointersOf(manyOf(150, {}), { one: {} })).toEqual(['/extrafields']);
  });
});
