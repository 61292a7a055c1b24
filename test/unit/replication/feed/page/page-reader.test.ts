import fc from 'fast-check';
import { anyBehaviour, anyRecords, idOf, pageFrom, type StoredPage, type StoredRecord } from '../stored.js';
import { runs } from '../../../../support/runs.js';

const window = (limit: number) => ({ to: new Date(1000), limit });
const anyLimit = fc.integer({ min: 1, max: 30 });

const matchesIn = (records: StoredRecord[]) =>
  records.flatMap(({ isMatch }, index) => (isMatch ? [`r${index}`] : []));

async function read({ reader, reading }: StoredPage, limit: number): Promise<string[]> {
  const ids: string[] = [];
  for await (const { pieces, count, last } of reader.items(reading, window(limit))) {
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
        const ids = await read(pageFrom(records, behaviour), limit);
        expect(ids).toEqual(matchesIn(records).slice(0, limit));
      }),
      { numRuns: runs(1000) },
    );
  });

  it('the last item is known ahead where the page is full, and only there', async () => {
    await fc.assert(
      fc.asyncProperty(anyRecords, anyBehaviour, anyLimit, async (records, behaviour, limit) => {
        const { reader, reading } = pageFrom(records, behaviour);
        const last = await reader.last(reading, window(limit));
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
    const page = pageFrom(all(40), quick);
    expect(await read(page, 30)).toHaveLength(30);
    expect(page.taken).toHaveLength(1);
  });

  it('no more than one reply shall hold, since records may be large', async () => {
    const page = pageFrom(all(10), { ...quick, sizes: 4 });
    await read(page, 10);
    expect(page.taken.map(({ replyLimit }) => replyLimit)).toEqual([4, 4, 2]);
  });

  it('a sparse filter is looked for in ever wider steps', async () => {
    const page = pageFrom([...all(59, false), ...all(1)], quick);
    expect(await read(page, 2)).toEqual(['r59']);
    expect(page.taken.map(({ breadth }) => breadth.perItem)).toEqual([1, 16, 256]);
  });

  it('nothing behind an item is read before it is taken', async () => {
    const page = pageFrom(all(10), { ...quick, sizes: 5 });
    const items = page.reader.items(page.reading, window(10));
    await items.next();
    expect(page.taken).toHaveLength(1);
    await items.return();
    expect(page.taken).toHaveLength(1);
  });

  it('what takes too long even in small steps is given up', async () => {
    const stuck = pageFrom(all(5), quick);
    stuck.batches.read = () => Promise.reject(Object.assign(new Error('no'), { code: 50 }));
    await expect(read(stuck, 1)).rejects.toThrow('no');
  });
});
