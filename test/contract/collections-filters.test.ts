import mongoose, { type mongo } from 'mongoose';
import { type TestApplication, TestService } from '../support/index.js';

const { Decimal128, Long } = mongoose.mongo;

let service: TestService;
let app: TestApplication;

beforeAll(async () => {
  service = await TestService.shared();
  app = await service.application();
  await app.product({
    id: 'a',
    type: 'book',
    createdBy: 'erp',
    channels: ['web', 'shop'],
    data: {
      n: 1,
      name: 'Anna',
      tags: ['x', 'y'],
      rows: [{ k: 1, v: 'one' }],
      big: Long.fromString('9007199254740993'),
    },
  });
  await app.product({
    id: 'b',
    type: 'book',
    createdBy: 'import',
    channels: ['shop'],
    data: {
      n: 5,
      name: 'bert',
      tags: [],
      rows: [
        { k: 1, v: 'two' },
        { k: 2, v: 'one' },
      ],
      price: Decimal128.fromString('9.90'),
    },
  });
  await app.product({
    id: 'c',
    type: 'game',
    createdBy: 'erp',
    channels: [],
    data: { n: null, when: new Date(0), odd$: 1 },
  });
});

let number = 0;
async function idsMatching(filter: mongo.Document): Promise<{ updates: string; softdeletes: string }> {
  number += 1;
  const name = `filter-${number}`;
  await app.filter('product', name, filter);
  const [updates, deletes] = [
    await app.feed('product', name).page(),
    await app.softDeletes('product', name).page(),
  ];
  return { updates: updates.ids.sort().join(''), softdeletes: deletes.ids.sort().join('') };
}
const others = (ids: string) => [...'abc'].filter((id) => !ids.includes(id)).join('');

describe('Filters are matched against the record document', () => {
  it.each<[string, mongo.Document, string]>([
    ['nothing is everything', {}, 'abc'],
    ['its `data`', { 'data.n': 1 }, 'a'],
    ['its `channels`', { channels: 'shop' }, 'ab'],
    ['its other fields', { type: 'book', createdBy: 'erp' }, 'a'],
    ['its `id`', { id: { $in: ['a', 'c'] } }, 'ac'],
    ['its `lastupdated`', { lastupdated: { $gt: new Date('2999-01-01') } }, ''],
  ])('%s', async (_name, filter, ids) => {
    expect(await idsMatching(filter)).toEqual({ updates: ids, softdeletes: others(ids) });
  });
});

describe('Allowed operators: `$and $or $nor $not $eq $ne $gt $gte $lt $lte $in $nin $exists $type $size $all $elemMatch $mod $regex $options`', () => {
  it.each<[mongo.Document, string]>([
    [{ $and: [{ type: 'book' }, { createdBy: 'erp' }] }, 'a'],
    [{ $or: [{ 'data.n': 1 }, { 'data.n': 5 }] }, 'ab'],
    [{ $nor: [{ 'data.n': 1 }] }, 'bc'],
    [{ 'data.n': { $not: { $gt: 1 } } }, 'ac'],
    [{ 'data.name': { $not: /^A/ } }, 'bc'],
    [{ 'data.n': { $eq: 5 } }, 'b'],
    [{ 'data.n': { $ne: 5 } }, 'ac'],
    [{ 'data.n': { $gt: 1 } }, 'b'],
    [{ 'data.n': { $gte: 1 } }, 'ab'],
    [{ 'data.n': { $lt: 5 } }, 'a'],
    [{ 'data.n': { $lte: 5 } }, 'ab'],
    [{ 'data.name': { $in: ['Anna', /^b/] } }, 'ab'],
    [{ 'data.name': { $nin: ['Anna', 'bert'] } }, 'c'],
    [{ 'data.price': { $exists: true } }, 'b'],
    [{ 'data.price': { $exists: false } }, 'ac'],
    [{ 'data.price': { $type: 'decimal' } }, 'b'],
    [{ 'data.tags': { $size: 0 } }, 'b'],
    [{ channels: { $all: ['web', 'shop'] } }, 'a'],
    [{ 'data.rows': { $elemMatch: { k: 1, v: 'one' } } }, 'a'],
    [{ 'data.n': { $mod: [4, 1] } }, 'ab'],
    [{ 'data.name': { $regex: '^B', $options: 'i' } }, 'b'],
    [{ 'data.when': new Date(0) }, 'c'],
    [{ 'data.big': Long.fromString('9007199254740993') }, 'a'],
    [{ 'data.price': Decimal128.fromString('9.9') }, 'b'],
    [{ 'data.odd$': 1 }, 'c'],
    [{ $and: [{ $or: [{ type: 'game' }, { $nor: [{ 'data.n': { $not: { $in: [5] } } }] }] }] }, 'bc'],
  ])('%j', async (filter, ids) => {
    expect(await idsMatching(filter)).toEqual({ updates: ids, softdeletes: others(ids) });
  });
});
