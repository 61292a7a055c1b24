import type { ControlChange } from '../../../src/control/change.js';
import type { ControlStream } from '../../../src/control/control-stream.js';
import { KnownDocuments } from '../../../src/control/known-documents.js';

interface Shop {
  _id: number;
  name?: string;
  open?: boolean;
}

let stream: { isCurrent: boolean; follow: jest.Mock };
let shops: KnownDocuments<Shop>;
let reads: number;
beforeEach(() => {
  stream = { isCurrent: true, follow: jest.fn() };
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

  it('that there is none is not remembered', async () => {
    expect(await shops.find('a', read(null))).toBeNull();
    expect(await shops.find('a', read({ _id: 1 }))).toEqual({ _id: 1 });
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
