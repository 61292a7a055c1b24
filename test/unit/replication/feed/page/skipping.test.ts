import fc from 'fast-check';
import mongoose from 'mongoose';
import type {
  PageReader,
  PageReading,
  ReadPlace,
} from '../../../../../src/replication/feed/page/page-reader.js';
import { itemsAfterSkipped } from '../../../../../src/replication/feed/page/pages.js';
import type { ReadSlot } from '../../../../../src/replication/feed/query/window-lists.js';
import type { Window } from '../../../../../src/replication/feed/query/window.js';
import { anyBehaviour, anyRecord, AT as at, pageFrom, SLOT } from '../stored.js';
import { runs } from '../../../../support/runs.js';

async function idsOf(reader: PageReader, reading: PageReading, window: Window): Promise<string[]> {
  const ids: string[] = [];
  for await (const { pieces } of reader.items(reading, window)) {
    const items = JSON.parse(`[${Buffer.concat([...pieces]).toString()}]`) as { id: string }[];
    ids.push(...items.map(({ id }) => id));
  }
  return ids;
}

it('wherever a page was when its link went out, the link leads to the page behind it', async () => {
  const anyCase = fc.record({
    records: fc.array(anyRecord, { maxLength: 20 }),
    behaviour: anyBehaviour,
    limit: fc.integer({ min: 1, max: 20 }),
    lateAfter: fc.integer({ min: 1, max: 8 }),
  });
  await fc.assert(
    fc.asyncProperty(anyCase, async ({ records, behaviour, limit, lateAfter }) => {
      const { reader, reading } = pageFrom(records, behaviour);
      const all = records.flatMap(({ isMatch }, index) => (isMatch ? [`r${index}`] : []));
      let window: Window | undefined = { to: new Date(1000), limit };
      for (let read: string[] = []; ;) {
        let reports = 0;
        let known: ReadPlace = { lastoffsetid: window.lastoffsetid, items: window.limit };
        const late: PageReading = {
          ...reading,
          get place() {
            return known;
          },
          set place(now) {
            if (reports++ < lateAfter) known = now;
          },
        };
        const begun: Window | undefined = await itemsAfterSkipped(reader, late, window);
        if (begun === undefined) {
          expect(read).toEqual(all);
          return;
        }
        read = [...read, ...(await idsOf(reader, late, begun))];
        const { lastoffsetid, items } = known;
        window = { to: window.to, limit, behind: { items, at }, ...(lastoffsetid && { lastoffsetid }) };
      }
    }),
    { numRuns: runs(100) },
  );
});

it('nothing is counted as of another moment', async () => {
  const { reader, reading } = pageFrom([], { replyHolds: 1, mostSlow: 5, isListed: false, sizes: 1 });
  const other = new mongoose.mongo.Timestamp({ t: 2, i: 1 });
  const window = { to: new Date(1000), limit: 5 };
  expect(await itemsAfterSkipped(reader, reading, { ...window, behind: { items: 3, at: other } })).toEqual(
    window,
  );
});

it('nor where the moment is gone while items are being counted', async () => {
  const { reader, reading } = pageFrom(
    Array.from({ length: 9 }, () => ({ isMatch: true, isSlow: false })),
    { replyHolds: 9, mostSlow: 5, isListed: false, sizes: 9 },
  );
  const fleeting = {
    at,
    asOf: <T>(read: (of: mongoose.mongo.Timestamp, slot: ReadSlot) => Promise<T>) => {
      fleeting.at = new mongoose.mongo.Timestamp({ t: 2, i: 1 });
      return read(fleeting.at, SLOT);
    },
  };
  const window = { to: new Date(1000), limit: 5 };
  const asked = { ...window, behind: { items: 3, at } };
  expect(await itemsAfterSkipped(reader, { ...reading, view: fleeting }, asked)).toEqual(window);
});
