import { strangersIn } from '../../../../src/administration/preview/field-warnings.js';

describe('Names at the top of the record that are none of its own', () => {
  it('are found wherever they stand, once each', () => {
    const filter = {
      $or: [{ 'category.name': 'bikes' }, { $nor: [{ category: 'boats' }] }],
      price: { $gt: 5 },
      rows: { $elemMatch: { inner: 1 } },
    };
    expect(strangersIn(filter)).toEqual([
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
    expect(strangersIn(filter)).toEqual([]);
  });
});
