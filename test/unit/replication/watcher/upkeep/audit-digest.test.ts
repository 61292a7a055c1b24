import fc from 'fast-check';
import { mongo } from 'mongoose';
import {
  digestOf,
  isSameDigest,
  type Tenure,
} from '../../../../../src/replication/watcher/upkeep/audit-reads.js';
import { TENANT } from '../../protocol/written.js';

const tenure = (number: number, id: string): Tenure => ({
  owner: new mongo.ObjectId(number.toString(16).padStart(24, '0')),
  identity: { ...TENANT, kind: 'product', id },
});

const tenures = fc.array(
  fc.tuple(fc.nat(1000), fc.string()).map(([number, id]) => tenure(number, id)),
  { maxLength: 30 },
);

it('is the same for the same list in any order', () => {
  fc.assert(
    fc.property(tenures, fc.infiniteStream(fc.nat()), (list, order) => {
      const shuffled = list
        .map((one) => ({ one, place: order.next().value as number }))
        .sort((a, b) => a.place - b.place)
        .map(({ one }) => one);
      return isSameDigest(digestOf(list), digestOf(shuffled));
    }),
  );
});

it('stays within 64 bits', () => {
  const { count, sum } = digestOf(Array.from({ length: 100 }, (_, index) => tenure(index, `${index}`)));
  expect(count).toBe(100);
  expect(sum).toBeLessThan(2n ** 64n);
});

const LIST = [tenure(1, 'a'), tenure(2, 'b')];

it.each<[string, Tenure[]]>([
  ['one is missing', [tenure(1, 'a')]],
  ['one is there twice', [...LIST, tenure(2, 'b')]],
  ['owners are swapped', [tenure(2, 'a'), tenure(1, 'b')]],
  ['another owner', [tenure(1, 'a'), tenure(3, 'b')]],
  ['another id', [tenure(1, 'a'), tenure(2, 'c')]],
  ['another application', [tenure(1, 'a'), { ...LIST[1]!, identity: { ...LIST[1]!.identity, appid: 'x' } }]],
])('differs where %s', (_name, other) => {
  expect(isSameDigest(digestOf(LIST), digestOf(other))).toBe(false);
});
