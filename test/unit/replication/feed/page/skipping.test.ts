import fc from 'fast-check';
import mongoose from 'mongoose';
import { itemsOf, type PageSource } from '../../../../../src/replication/feed/page/reading.js';
import type { ShownMoment } from '../../../../../src/replication/feed/page/shown-moment.js';
import { behindItems } from '../../../../../src/replication/feed/page/skipping.js';
import type { Window } from '../../../../../src/replication/feed/query/window.js';
import { anyBehaviour, anyRecord, sourceOf } from '../stored.js';
import { runs } from '../../../../support/runs.js';

const at = new mongoose.mongo.Timestamp({ t: 1, i: 1 });
const present = { at } as ShownMoment;

async function idsOf(source: PageSource, window: Window): Promise<string[]> {
  const ids: string[] = [];
  for await (const { pieces } of itemsOf(source, window)) {
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
      const source = sourceOf(records, behaviour);
      const all = records.flatMap(({ isMatch }, index) => (isMatch ? [`r${index}`] : []));
      let window: Window | undefined = { to: new Date(1000), limit };
      for (let read: string[] = []; ;) {
        let reports = 0;
        let place: Pick<Window, 'lastoffsetid' | 'limit'> = window;
        const late = {
          ...source,
          passed: (now: typeof place) => (reports++ < lateAfter ? (place = now) : now),
        };
        const begun: Window | undefined = await behindItems(late, window, present);
        if (begun === undefined) {
          expect(read).toEqual(all);
          return;
        }
        read = [...read, ...(await idsOf(late, begun))];
        const { lastoffsetid, limit: items } = place;
        window = { to: window.to, limit, behind: { items, at }, ...(lastoffsetid && { lastoffsetid }) };
      }
    }),
    { numRuns: runs(100) },
  );
});

it('nothing is counted as of another moment', async () => {
  const source = sourceOf([], { replyHolds: 1, mostSlow: 5, isListed: false, sizes: 1 });
  const other = new mongoose.mongo.Timestamp({ t: 2, i: 1 });
  const window = { to: new Date(1000), limit: 5 };
  expect(await behindItems(source, { ...window, behind: { items: 3, at: other } }, present)).toEqual(window);
});

it('nor where the moment is gone while items are being counted', async () => {
  const source = sourceOf(
    Array.from({ length: 9 }, () => ({ isMatch: true, isSlow: false })),
    { replyHolds: 9, mostSlow: 5, isListed: false, sizes: 9 },
  );
  const fleeting = { at };
  const gone = {
    ...source,
    asOf: <T>(read: (of: mongoose.mongo.Timestamp) => Promise<T>) => {
      fleeting.at = new mongoose.mongo.Timestamp({ t: 2, i: 1 });
      return read(fleeting.at);
    },
  };
  const window = { to: new Date(1000), limit: 5 };
  expect(await behindItems(gone, { ...window, behind: { items: 3, at } }, fleeting as ShownMoment)).toEqual(
    window,
  );
});
