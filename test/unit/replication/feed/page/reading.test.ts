import fc from 'fast-check';
import { itemsOf, lastOf } from '../../../../../src/replication/feed/page/reading.js';
import { anyBehaviour, anyRecords, idOf, sourceOf, type StoredRecord } from '../stored.js';
import { runs } from '../../../../support/runs.js';

const window = (limit: number) => ({ to: new Date(1000), limit });
const anyLimit = fc.integer({ min: 1, max: 30 });

const matchesIn = (records: StoredRecord[]) =>
  records.flatMap(({ isMatch }, index) => (isMatch ? [`r${index}`] : []));

async function read(source: Parameters<typeof itemsOf>[0], limit: number): Promise<string[]> {
  const ids: string[] = [];
  for await (const { pieces, count, last } of itemsOf(source, window(limit))) {
    const items = JSON.parse(`[${Buffer.concat([...pieces]).toString()}]`) as { id: string }[];
    ids.push(...items.map(({ id }) => id));
    expect(items).toHaveLength(count);
    expect(idOf(Number(items.at(-1)?.id.slice(1))).toHexString()).toBe(last);
  }
  return ids;
}

describe('No page but the last is shorter than limit', () => {
  it('whatever a reply holds, however sparse the filter, however long a step takes', async () => {
    await fc.assert(
      fc.asyncProperty(anyRecords, anyBehaviour, anyLimit, async (records, behaviour, limit) => {
        const ids = await read(sourceOf(records, behaviour), limit);
        expect(ids).toEqual(matchesIn(records).slice(0, limit));
      }),
      { numRuns: runs(1000) },
    );
  });

  it('the last item is known ahead where the page is full, and only there', async () => {
    await fc.assert(
      fc.asyncProperty(anyRecords, anyBehaviour, anyLimit, async (records, behaviour, limit) => {
        const last = await lastOf(sourceOf(records, behaviour), window(limit));
        const id = matchesIn(records)[limit - 1];
        expect(last?.toHexString()).toBe(
          id === undefined ? undefined : idOf(Number(id.slice(1))).toHexString(),
        );
      }),
      { numRuns: runs(1000) },
    );
  });
});

describe('how much a page asks for', () => {
  const all = (count: number, isMatch = true) =>
    Array.from({ length: count }, () => ({ isMatch, isSlow: false }));
  const quick = { replyHolds: 100, mostSlow: 5, isListed: true, sizes: 100 };

  it('one step where everything is in one reply', async () => {
    const source = sourceOf(all(40), quick);
    expect(await read(source, 30)).toHaveLength(30);
    expect(source.taken).toHaveLength(1);
  });

  it('no more than one reply shall hold, since records may be large', async () => {
    const source = sourceOf(all(10), { ...quick, sizes: 4 });
    await read(source, 10);
    expect(source.taken.map(({ window: { limit } }) => limit)).toEqual([4, 4, 2]);
  });

  it('a sparse filter is looked for in ever wider steps', async () => {
    const source = sourceOf([...all(59, false), ...all(1)], quick);
    expect(await read(source, 2)).toEqual(['r59']);
    expect(source.taken.map(({ breadth }) => breadth.perItem)).toEqual([1, 16, 256]);
  });

  it('nothing behind an item is read before it is taken', async () => {
    const source = sourceOf(all(10), { ...quick, sizes: 5 });
    const items = itemsOf(source, window(10));
    await items.next();
    expect(source.taken).toHaveLength(1);
    await items.return();
    expect(source.taken).toHaveLength(1);
  });

  it('what takes too long even in small steps is given up', async () => {
    const stuck = sourceOf(all(5), quick);
    stuck.steps.readBatch = () => Promise.reject(Object.assign(new Error('no'), { code: 50 }));
    await expect(read(stuck, 1)).rejects.toThrow('no');
  });
});
