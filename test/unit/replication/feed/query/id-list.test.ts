import fc from 'fast-check';
import { mongo } from 'mongoose';
import { IdList } from '../../../../../src/replication/feed/query/selection.js';
import { runs } from '../../../../support/runs.js';

/** Near to each other in one byte or another, as well as far. */
const anyId = fc
  .tuple(fc.constantFrom('000000', '6740a1', 'ffffff'), fc.integer({ min: 0, max: 5 }), fc.nat(0xffff))
  .map(
    ([start, middle, end]) => `${start}${String(middle).padEnd(14, '7')}${end.toString(16).padStart(4, '0')}`,
  );
const anyIds = fc.uniqueArray(anyId, { maxLength: 60 });
const listOf = (ids: string[]) => IdList.sort(Buffer.from(ids.join(''), 'hex'));
const hexOf = (ids: mongo.ObjectId[]) => ids.map((id) => id.toHexString());

it('gives out what it was given, in order', async () => {
  await fc.assert(
    fc.asyncProperty(anyIds, async (ids) => {
      const list = await listOf(ids);
      expect(hexOf(list.behind(undefined, ids.length + 1))).toEqual([...ids].sort());
      expect(list.length).toBe(ids.length);
      expect(list.bytes).toBe(12 * ids.length);
    }),
    { numRuns: runs(500) },
  );
});

it('at most so many behind an _id, whether it is in the list or not', async () => {
  await fc.assert(
    fc.asyncProperty(anyIds, anyId, fc.nat(70), async (ids, id, count) => {
      const expected = [...ids]
        .sort()
        .filter((one) => one > id)
        .slice(0, count);
      expect(hexOf((await listOf(ids)).behind(new mongo.ObjectId(id), count))).toEqual(expected);
    }),
    { numRuns: runs(500) },
  );
});

it('leaves what it was given as it was', async () => {
  const packed = Buffer.from(`${'f'.repeat(24)}${'0'.repeat(24)}`, 'hex');
  const before = Buffer.from(packed);
  await IdList.sort(packed);
  expect(packed).toEqual(before);
});

it('a long list leaves the process to others while it is sorted', async () => {
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 0);
  const packed = Buffer.from(Array.from({ length: 12 * 20_000 }, (_, at) => (at * 7919) % 251));
  await IdList.sort(packed);
  clearInterval(timer);
  expect(turns).toBeGreaterThan(0);
});
