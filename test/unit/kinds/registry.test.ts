import { collectionOf, describedKind, kindsIn, replaceKinds } from '../../../src/kinds/index.js';

afterEach(() => replaceKinds(new Map()));

it('a kind that is removed while a request is answered is 404 `unknown-kind` to it, and no internal error', () => {
  replaceKinds(kindsIn([{ _id: 1, name: 'order', collection: 'orders' }]));
  expect(collectionOf('order')).toBe('orders');
  replaceKinds(new Map());
  const unknown = expect.objectContaining({ status: 404, slug: 'unknown-kind' }) as Error;
  expect(() => describedKind('order')).toThrow(unknown);
  expect(() => collectionOf('order')).toThrow(unknown);
});
