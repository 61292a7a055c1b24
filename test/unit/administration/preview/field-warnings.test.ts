import { namesInData, topNamesIn } from '../../../../src/administration/preview/sample.js';

describe('Names at the top of the record that are none of its own', () => {
  it('are found wherever they stand, once each', () => {
    const filter = {
      $or: [{ 'category.name': 'bikes' }, { $nor: [{ category: 'boats' }] }],
      price: { $gt: 5 },
      rows: { $elemMatch: { inner: 1 } },
    };
    expect(topNamesIn(filter)).toEqual([
      { field: 'category.name', path: '$or[0].category.name' },
      { field: 'price', path: 'price' },
      { field: 'rows', path: 'rows' },
    ]);
  });

  it('are not those that every record has (contract §4)', () => {
    const own = ['_id', 'organizationid', 'appid', 'id', 'type', 'createDate', 'createdBy', 'lastupdated'];
    const filter = Object.fromEntries(
      [...own, 'data.category', 'data', 'channels', 'channels.0'].map((name) => [name, 1]),
    );
    expect(topNamesIn(filter)).toEqual([]);
  });
});

describe('Names within the data', () => {
  it('are found at any depth, wherever they stand, once each', () => {
    const filter = {
      'data.color': 'red',
      $or: [{ 'data.size.cm': 5 }, { $nor: [{ 'data.color': 'blue' }] }],
      'data.rows': {
        $not: { $elemMatch: { n: 1, $or: [{ 'deep.er': 2 }, { more: { $elemMatch: { x: 1 } } }] } },
      },
      'data.all': { $all: [{ $elemMatch: { y: 1 } }] },
      'data.list': { $elemMatch: { $gt: 5 } },
      ...{ id: 'x', channels: { $elemMatch: { $eq: 'web' } }, category: 1 },
    };
    expect(namesInData(filter)).toEqual([
      { field: 'data.color', path: 'data.color' },
      { field: 'data.size.cm', path: '$or[0].data.size.cm' },
      { field: 'data.rows', path: 'data.rows' },
      { field: 'data.rows.n', path: 'data.rows.$not.$elemMatch.n' },
      { field: 'data.rows.deep.er', path: 'data.rows.$not.$elemMatch.$or[0].deep.er' },
      { field: 'data.rows.more', path: 'data.rows.$not.$elemMatch.$or[1].more' },
      { field: 'data.rows.more.x', path: 'data.rows.$not.$elemMatch.$or[1].more.$elemMatch.x' },
      { field: 'data.all', path: 'data.all' },
      { field: 'data.all.y', path: 'data.all.$all[0].$elemMatch.y' },
      { field: 'data.list', path: 'data.list' },
    ]);
  });
});
