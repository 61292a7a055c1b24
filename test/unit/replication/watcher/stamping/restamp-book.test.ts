import mongoose from 'mongoose';
import {
  RestampBook,
  type StampedBulk,
  AT_ONCE_MOST,
  KEPT_MOST,
  RestampBudget,
} from '../../../../../src/replication/watcher/stamping/restamp-book.js';

const { ObjectId } = mongoose.mongo;
const DAYS = 30;
const DAY_MS = 86_400_000;
const NOW = Date.parse('2026-11-20T10:59:59.500Z');

const idsOf = (count: number) => Array.from({ length: count }, () => new ObjectId());
const thousand = idsOf(1000);
const bulk = (fields: Partial<StampedBulk> = {}): StampedBulk => {
  const ids = fields.ids ?? idsOf(3);
  return { collection: 'products', reason: 'late', stamped: ids.length, ...fields, ids };
};
/** What the book wants written, after these bulks. */
function written(bulks: StampedBulk[], book = new RestampBook(DAYS)): unknown[] {
  for (const one of bulks) book.note(one, NOW);
  return documentsOf(book, NOW);
}
const documentsOf = (book: RestampBook, now: number) =>
  book.take(now).map((write) => ('insertOne' in write ? write.insertOne.document : write));
const many = (of: number, ids: number, fields: Partial<StampedBulk> = {}) =>
  Array.from({ length: of }, () => bulk({ ids: idsOf(ids), ...fields }));

describe('a bulk of re-stamps becomes a note', () => {
  it('with its reason, its `_id`s, and for how long it is kept', () => {
    const ids = idsOf(3);
    const service = { organizationid: 'acme', appid: 'shop', name: 'bikes' };
    expect(written([bulk({ reason: 'filter', ids, service })])).toEqual([
      {
        ...{ _id: expect.any(ObjectId), at: new Date(NOW), reason: 'filter', collection: 'products' },
        ...{ ids, isCertain: true, service, expires: new Date(NOW + DAYS * DAY_MS) },
      },
    ]);
  });

  it('of which it is said where not all were stamped, and none where none was', () => {
    const ids = idsOf(3);
    expect(written([bulk({ ids, stamped: 2 })])).toMatchObject([{ ids, isCertain: false }]);
    expect(written([bulk({ stamped: 0 })])).toEqual([]);
  });

  it('once: it is not written again', () => {
    const book = new RestampBook(DAYS);
    expect(written([bulk()], book)).toHaveLength(1);
    expect(documentsOf(book, NOW)).toEqual([]);
  });

  it('with 0 days nothing is noted', () => {
    expect(written(many(3, 1000), new RestampBook(0))).toEqual([]);
  });
});

describe('what waits together is written together', () => {
  it('a record that is stamped a thousand times is noted once', () => {
    const ids = idsOf(1);
    const again = Array.from({ length: 1000 }, () => bulk({ ids }));
    expect(written(again)).toMatchObject([{ ids }]);
  });

  it.each<[string, Partial<StampedBulk>]>([
    ['another reason', { reason: 'left' }],
    ['another collection', { collection: 'members' }],
    ['another certainty', { stamped: 2 }],
    ['another service', { service: { organizationid: 'acme', appid: 'shop', name: 'bikes' } }],
  ])('but for %s', (_name, other) => {
    expect(written([bulk(), bulk(other)])).toHaveLength(2);
  });

  it('a thousand at most', () => {
    const notes = written(many(7, 300)) as { ids: unknown[] }[];
    expect(notes.map(({ ids }) => ids.length)).toEqual([900, 900, 300]);
  });
});

describe('what is too much is only counted', () => {
  const gapOf = (count: number, from: number, until = from) => ({
    updateOne: {
      filter: { _id: '2026-11-20T10 late' },
      update: {
        ...{ $setOnInsert: { reason: 'late' }, $min: { from: new Date(from) }, $inc: { count } },
        $max: { until: new Date(until), expires: new Date(until + DAYS * DAY_MS) },
      },
      upsert: true,
    },
  });

  it('where more waits than fits into memory', () => {
    const found = written(many(103, 1000));
    expect(found).toHaveLength(101);
    expect(found.at(-1)).toEqual(gapOf(3000, NOW));
  });

  /** Notes as much of a reason as may be noted at once. */
  function usedUp(book: RestampBook): unknown[] {
    const found: unknown[] = [];
    for (let turn = 0; turn < AT_ONCE_MOST / 100_000; turn += 1)
      found.push(
        ...written(
          Array.from({ length: 100 }, () => bulk({ ids: thousand })),
          book,
        ),
      );
    return found;
  }

  it('where a reason has used up what is its own, and no other reason is concerned', () => {
    const book = new RestampBook(DAYS);
    const found = usedUp(book);
    expect(found).toHaveLength(1000);
    expect(found.at(-1)).toEqual(gapOf(1000, NOW));
    expect(written([bulk()], book)).toEqual([gapOf(3, NOW)]);
    expect(written([bulk({ reason: 'left' })], book)).toMatchObject([{ reason: 'left' }]);
  });

  it('in each hour of its own', () => {
    const book = new RestampBook(DAYS);
    usedUp(book);
    for (const at of [NOW, NOW + 100, NOW + 1000]) book.note(bulk({ ids: thousand }), at);
    const [first, second] = book.take(NOW + 1000);
    expect(first).toEqual(gapOf(2000, NOW, NOW + 100));
    expect(second).toMatchObject({ updateOne: { filter: { _id: '2026-11-20T11 late' } } });
  });
});

it.each([1, 30, 3650])(
  'kept for %s days: of a reason no more stand in the collection than a budget allows, however many there are',
  (days) => {
    const budget = new RestampBudget(days);
    let noted = 0;
    for (let hour = 0; hour < days * 24; hour += 1)
      while (budget.spend('late', 1000, NOW + (hour * DAY_MS) / 24)) noted += 1000;
    expect(noted).toBeLessThanOrEqual(KEPT_MOST + AT_ONCE_MOST);
    expect(noted).toBeGreaterThan(KEPT_MOST * 0.9);
  },
);
