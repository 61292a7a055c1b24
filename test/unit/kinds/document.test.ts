import { type KindDocument, kindFaults, kindFields, kindsIn } from '../../../src/kinds/index.js';

const valid = { name: 'order', collection: 'orders' };

it('the fewest and the most fields of a kind', () => {
  expect(kindFaults(valid)).toEqual([]);
  const most = {
    ...valid,
    plural: 'Orders',
    id: 'sku',
    lastupdated: 'updatedAt',
    channels: true,
    data: false,
  };
  expect(kindFaults({ ...most, organizationid: 'acme', appid: 'shop' })).toEqual([]);
  expect(kindFaults({ ...valid, name: `a${'b'.repeat(31)}` })).toEqual([]);
});

it.each<[keyof KindDocument, unknown]>([
  ['name', undefined],
  ['name', ''],
  ['name', 'Order'],
  ['name', '1order'],
  ['name', 'or/der'],
  ['name', `a${'b'.repeat(32)}`],
  ['name', 'member'],
  ['name', 'product'],
  ['name', 'productbychannel'],
  ['collection', undefined],
  ['collection', ''],
  ['collection', 7],
  ['collection', 'members'],
  ['collection', 'services'],
  ['collection', 'kinds'],
  ['collection', 'tidemark.ledger'],
  ['collection', 'system.views'],
  ['collection', 'or$ders'],
  ['collection', 'o'.repeat(151)],
  ['plural', ''],
  ['plural', 'o'.repeat(61)],
  ['id', '_id'],
  ['id', 'a.b'],
  ['id', '$a'],
  ['id', 'data'],
  ['id', '__proto__'],
  ['lastupdated', 'constructor'],
  ['id', 'channels'],
  ['lastupdated', ''],
  ['lastupdated', 'createDate'],
  ['channels', 'yes'],
  ['data', 0],
])('%s %j is refused, in one sentence about that field', (field, value) => {
  const faults = kindFaults({ ...valid, [field]: value });
  expect(faults.map((one) => one.field)).toEqual([field]);
  expect(faults[0]?.detail).toMatch(/\.$/);
});

it('the id and the stamp are different fields', () => {
  const fieldsOf = (document: object) => kindFaults({ ...valid, ...document }).map(({ field }) => field);
  expect(fieldsOf({ id: 'x', lastupdated: 'x' })).toEqual(['id', 'lastupdated']);
  expect(fieldsOf({ id: 'lastupdated' })).toEqual(['id']);
});

it('an application is named by both of its names', () => {
  expect(kindFaults({ ...valid, appid: 'shop' }).map(({ field }) => field)).toEqual(['organizationid']);
  expect(kindFaults({ ...valid, organizationid: 'a b', appid: 'shop' }).map(({ field }) => field)).toEqual([
    'organizationid',
  ]);
});

it('a stored document that cannot be read is no kind, nor is one with a name or a collection that is taken', () => {
  const stored = [
    { _id: 1, ...valid },
    { _id: 2, name: 'order', collection: 'others' },
    { _id: 3, name: 'other', collection: 'orders' },
    { _id: 4, name: 'BAD', collection: 'bad' },
    { _id: 5, name: 'half', collection: 'halves', organizationid: 'acme' },
    { _id: 6, name: 'price', collection: 'prices', data: false, note: 'a field of somebody else' },
  ];
  expect([...kindsIn(stored).keys()]).toEqual(['order', 'price']);
  expect(kindsIn(stored).get('order')).toEqual({
    ...{ plural: 'orders', collection: 'orders', document: expect.stringMatching(/^1 /) },
    ...{ alwaysHasChannels: false, hasChannelFeeds: false, isPerson: false },
  });
});

it('fields without a value, and those of other programs, are left out', () => {
  const stored = { ...valid, note: 1, plural: null } as unknown as KindDocument;
  expect(kindFields(stored)).toEqual(valid);
});
