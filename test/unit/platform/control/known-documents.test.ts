import { calculateObjectSize } from 'bson';
import type { ControlChange } from '../../../../src/platform/control/change.js';
import type { ControlStream } from '../../../../src/platform/control/control-stream.js';
import { KnownDocuments } from '../../../../src/platform/control/known-documents.js';

interface Shop {
  _id: number | undefined;
  name?: string;
  open?: boolean;
}

let stream: { isCurrent: boolean; follow: jest.Mock; read: (read: (options: object) => unknown) => unknown };
let shops: KnownDocuments<Shop>;
let reads: number;
beforeEach(() => {
  stream = { isCurrent: true, follow: jest.fn(), read: (read) => read({ session: 'the stream’s' }) };
  shops = known();
  reads = 0;
});

const known = (told: ('name' | 'open')[] = []) =>
  new KnownDocuments<Shop>(stream as unknown as ControlStream, 'shops', told);
const read = (shop: Shop | null) => () => {
  reads += 1;
  return Promise.resolve(shop);
};
const change = (id: unknown, more: Partial<ControlChange> = {}): ControlChange => ({
  id,
  what: 'update',
  fields: {},
  removed: [],
  ...more,
});

describe('a document is read once', () => {
  it('and then known by the name under which it was asked for', async () => {
    for (let turn = 0; turn < 3; turn += 1)
      expect(await shops.find('a', read({ _id: 1, name: 'a' }))).toEqual({ _id: 1, name: 'a' });
    expect([reads, shops.peek('a')]).toEqual([1, { _id: 1, name: 'a' }]);
  });

  it('by all who ask at once and after the first, in the session of the stream', async () => {
    const given: unknown[] = [];
    const ask = () =>
      shops.findShared('a', (options) => {
        given.push(options);
        return Promise.resolve({ _id: 1 });
      });
    expect(await Promise.all([ask(), ask(), ask(), ask()])).toEqual(Array(4).fill({ _id: 1 }));
    expect(given).toEqual(Array(2).fill({ session: 'the stream’s' }));
  });

  it('that there is none is not remembered', async () => {
    expect(await shops.find('a', read(null))).toBeNull();
    expect(await shops.find('a', read({ _id: 1 }))).toEqual({ _id: 1 });
  });

  it('an absence is known until any document is inserted, is lost or is dropped', async () => {
    const absent = { _id: undefined, name: 'none' };
    const inserted = () => shops.hear(change(7, { what: 'insert' }));
    for (const [turn, end] of [inserted, () => shops.forget(), () => shops.drop('a')].entries()) {
      for (let again = 0; again < 2; again += 1) expect(await shops.find('a', read(absent))).toBe(absent);
      expect([reads, shops.peek('a')]).toEqual([turn + 1, absent]);
      shops.hear(change(7));
      expect(shops.peek('a')).toBe(absent);
      end();
      expect(shops.peek('a')).toBeUndefined();
    }
  });

  it('an absence that was read while a document was inserted is not remembered', async () => {
    let end = (_shop: Shop) => {};
    const found = shops.find('a', () => new Promise<Shop>((resolve) => (end = resolve)));
    shops.hear(change(7, { what: 'insert' }));
    end({ _id: undefined });
    await found;
    expect(shops.peek('a')).toBeUndefined();
  });

  it('each time while what is known does not count', async () => {
    await shops.find('a', read({ _id: 1 }));
    stream.isCurrent = false;
    await shops.find('a', read({ _id: 2 }));
    expect([reads, shops.peek('a')]).toEqual([2, undefined]);
  });

  it('each time where it is too large to be held', async () => {
    const large = { _id: 1, name: 'x'.repeat(70_000) };
    for (let turn = 0; turn < 2; turn += 1) await shops.find('a', read(large));
    expect(reads).toBe(2);
  });

  it('each time where nobody can tell how large it is', async () => {
    const odd = { _id: 1, name: { _bsontype: 'x' } } as unknown as Shop;
    for (let turn = 0; turn < 2; turn += 1) expect(await shops.find('a', read(odd))).toEqual(odd);
    expect(reads).toBe(2);
  });
});

it('of very many those that were asked for last are known, in as many bytes as it may have', async () => {
  const shopAt = (_id: number) => ({ _id, name: 'x'.repeat(200) });
  const count = 100_000;
  for (let id = 0; id < count; id += 1) await shops.find(`${id}`, read(shopAt(id)));
  const isKnown = (id: number) => shops.peek(`${id}`) !== undefined;
  const all = Array.from({ length: count }, (_, id) => id).filter(isKnown);
  expect([all.includes(0), all.includes(count - 1)]).toEqual([false, true]);
  const bytes = all.length * calculateObjectSize(shopAt(0));
  expect(bytes).toBeLessThanOrEqual(8 * 1024 * 1024);
  expect(bytes).toBeGreaterThan(7 * 1024 * 1024);
  for (let id = 0; id < count; id += 1) shops.hear(change(id));
  expect(all.some(isKnown)).toBe(false);
});

describe('it is read again once it was changed', () => {
  it.each(['update', 'replace', 'delete'] as const)('%s', async (what) => {
    await shops.find('a', read({ _id: 1 }));
    shops.hear(change(1, { what }));
    expect(shops.peek('a')).toBeUndefined();
  });

  it('not on account of others', async () => {
    await shops.find('a', read({ _id: 1 }));
    shops.hear(change(2));
    expect(shops.peek('a')).toEqual({ _id: 1 });
  });

  it('where nobody can tell which one was changed: all', async () => {
    await shops.find('a', read({ _id: 1 }));
    shops.hear({ what: 'update', fields: {}, removed: [] });
    expect(shops.peek('a')).toBeUndefined();
  });

  it('also where the change is heard of while it is read', async () => {
    await shops.find('a', () => {
      shops.hear(change(1));
      return Promise.resolve({ _id: 1, name: 'before' });
    });
    expect(shops.peek('a')).toBeUndefined();
  });

  it('also where all is forgotten while it is read', async () => {
    await shops.find('a', () => {
      shops.forget();
      return Promise.resolve({ _id: 1, name: 'before' });
    });
    expect(shops.peek('a')).toBeUndefined();
  });

  it.each<[string, unknown]>([
    ['a text', 'x'],
    ['a document that no name can be made of', { _bsontype: 'x' }],
  ])('where its _id is %s', async (_what, _id) => {
    const found = { _id } as unknown as Shop;
    expect(await shops.find('a', read(found))).toEqual(found);
    shops.hear(change(_id));
    expect(shops.peek('a')).toBeUndefined();
  });

  it('all, where what was changed has an _id that no name can be made of', async () => {
    await shops.find('a', read({ _id: 1 }));
    shops.hear(change({ _bsontype: 5 }));
    expect(shops.peek('a')).toBeUndefined();
  });

  it('where it was found under two names, under both', async () => {
    await shops.find('a', read({ _id: 1 }));
    await shops.find('b', read({ _id: 1 }));
    shops.hear(change(1));
    expect([shops.peek('a'), shops.peek('b')]).toEqual([undefined, undefined]);
  });
});

describe('fields that are told are known at once', () => {
  beforeEach(async () => {
    shops = known(['name', 'open']);
    await shops.find('a', read({ _id: 1, name: 'a', open: true }));
  });

  it('an update, and what it removed', () => {
    shops.hear(change(1, { fields: { name: 'b' }, removed: ['open'] }));
    expect(shops.peek('a')).toEqual({ _id: 1, name: 'b' });
  });

  it('another document in its place', () => {
    shops.hear(change(1, { what: 'replace', fields: { open: false } }));
    expect(shops.peek('a')).toEqual({ _id: 1, open: false });
  });

  it('one that is gone', () => {
    shops.hear(change(1, { what: 'delete' }));
    expect(shops.peek('a')).toBeUndefined();
  });
});
