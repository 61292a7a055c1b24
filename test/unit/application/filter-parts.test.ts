import { partsOf } from '../../../src/application/pure.js';

it('names every field of a filter with its place, and goes into no $elemMatch', () => {
  const filter = {
    'data.a': 1,
    $or: [{ b: { $gt: 1 } }, { $nor: [{ 'data.c': /x/ }, { rows: { $elemMatch: { d: 1 } } }] }],
  };
  expect(partsOf(filter)).toEqual([
    { place: 'data.a', field: 'data.a', condition: 1 },
    { place: '$or[0].b', field: 'b', condition: { $gt: 1 } },
    { place: '$or[1].$nor[0].data.c', field: 'data.c', condition: /x/ },
    { place: '$or[1].$nor[1].rows', field: 'rows', condition: { $elemMatch: { d: 1 } } },
  ]);
});
