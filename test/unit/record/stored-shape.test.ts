import type { StoredShape } from '../../../src/kinds/index.js';
import { StoredTerms } from '../../../src/record/stored-shape.js';

const tenant = { organizationid: 'acme', appid: 'shop' };
const names = { id: 'sku', lastupdated: 'updatedAt' };
const flat = new StoredTerms({ names, tenant, hasData: false, hasChannels: false });
const renamed = new StoredTerms({ names, hasData: true, hasChannels: true });

const NOTHING = { _id: { $in: [] } };

describe('a query', () => {
  it.each<[string, object, object]>([
    ['names the stored fields', { id: 'a', lastupdated: { $gt: 1 } }, { sku: 'a', updatedAt: { $gt: 1 } }],
    ['of the application of all records has no condition on it', { ...tenant, id: 'a' }, { sku: 'a' }],
    ['of another application finds nothing', { ...tenant, appid: 'other' }, NOTHING],
    ['keeps a condition on _id beside that', { appid: 'other', _id: 1 }, { $and: [NOTHING, { _id: 1 }] }],
    ['reaches into the data', { 'data.price.amount': 5 }, { 'price.amount': 5 }],
    ['does not take a stored `id` for the id', { 'data.id': 7 }, { id: 7 }],
    [
      'is translated within $and, $or and $nor',
      { $or: [{ id: 'a' }, { $nor: [{ 'data.n': 1 }] }] },
      { $or: [{ sku: 'a' }, { $nor: [{ n: 1 }] }] },
    ],
    ['knows that no such record has a list as its application', { appid: { $not: { $type: 'array' } } }, {}],
    ['leaves out what it cannot know', { appid: { $regex: 'shop' } }, NOTHING],
    ['sees no type, since that is data', { type: 'toy' }, { _tidemark_absent: 'toy' }],
    ['does not know a field by its stored name', { name: 'Ant' }, { _tidemark_absent: 'Ant' }],
    ['does not take the id for data', { 'data.sku': 'a' }, { _tidemark_absent: 'a' }],
    ['knows that the data is a document', { data: { $type: 'object' } }, {}],
    ['and that it is there', { data: null }, NOTHING],
  ])('%s', (_what, asked, stored) => {
    expect(flat.filter(asked)).toEqual(stored);
  });

  it('of a collection with applications and data of its own renames two fields', () => {
    const asked = { ...tenant, id: 'a', 'data.n': 1, channels: 'web', type: 'toy' };
    expect(renamed.filter(asked)).toEqual({ ...tenant, sku: 'a', 'data.n': 1, channels: 'web', type: 'toy' });
  });
});

describe('an expression', () => {
  it.each<[unknown, unknown]>([
    ['$id', '$sku'],
    ['$data.price', '$price'],
    ['$organizationid', { $literal: 'acme' }],
    ['$type', '$$REMOVE'],
    ['$name', '$$REMOVE'],
    ['$_id', '$_id'],
    ['$$NOW', '$$NOW'],
    [{ $literal: '$id' }, { $literal: '$id' }],
    [{ $eq: ['$id', { $toString: '$lastupdated' }] }, { $eq: ['$sku', { $toString: '$updatedAt' }] }],
  ])('%j', (asked, stored) => {
    expect(flat.expression(asked)).toEqual(stored);
  });
});

it('an index leaves out the application of all records, and keeps the order of the others', () => {
  const key = { organizationid: 1, appid: 1, lastupdated: 1, _id: 1 };
  expect(Object.entries(flat.keys(key))).toEqual([
    ['updatedAt', 1],
    ['_id', 1],
  ]);
  expect(Object.keys(renamed.keys(key))).toEqual(['organizationid', 'appid', 'updatedAt', '_id']);
});

it('a projection gives the names of the contract', () => {
  expect(flat.projection({ _id: 0, id: 1, 'data.n': 1 })).toEqual({ _id: 0, id: '$sku', 'data.n': '$n' });
  expect(Object.keys(flat.projection())).toEqual([
    ...['_id', 'organizationid', 'appid', 'id', 'lastupdated', 'data'],
  ]);
});

it('a pipeline selects in the terms of the collection, and goes on in those of the contract', () => {
  const group = { $group: { _id: '$id' } };
  expect(flat.pipeline([{ $match: { id: 'a' } }, { $sort: { lastupdated: 1 } }, group])).toEqual([
    { $match: { sku: 'a' } },
    { $sort: { updatedAt: 1 } },
    { $replaceWith: flat.whole('$$ROOT') },
    group,
  ]);
});

it('an update sets the stored fields', () => {
  expect(flat.update([{ $set: { lastupdated: { $max: ['$lastupdated', '$$NOW'] }, id: 'a' } }])).toEqual([
    { $set: { updatedAt: { $max: ['$updatedAt', '$$NOW'] }, sku: 'a' } },
  ]);
  expect(flat.update({ $set: { lastupdated: 1 }, $unset: { id: '' } })).toEqual({
    ...{ $set: { updatedAt: 1 }, $unset: { sku: '' } },
  });
});

it('every shape keeps _id', () => {
  const shapes: StoredShape[] = [
    { names, tenant, hasData: false, hasChannels: true },
    { names, hasData: false, hasChannels: false },
  ];
  for (const shape of shapes) expect(new StoredTerms(shape).ownNames).toContain('_id');
});
