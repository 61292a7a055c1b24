import { mongo } from 'mongoose';
import type { IncompleteIdentities } from '../../../../../src/replication/store/index.js';
import type { PresentRecord } from '../../../../../src/replication/watcher/index.js';
import { MissingIds } from '../../../../../src/replication/watcher/effects/decision-writer.js';

const idAt = (n: number) => new mongo.ObjectId(n.toString(16).padStart(24, '0'));

const recordAt = (n: number, id: string | null = null): PresentRecord => ({
  ...{
    _id: idAt(n),
    organizationid: 'acme',
    appid: 'shop',
    id,
    isStamped: false,
    emailkey: null,
    email: null,
  },
  ...{ channels: [], tooLarge: { email: false, channels: false } },
});
const records = (count: number, id?: string) => Array.from({ length: count }, (_, n) => recordAt(n + 1, id));

/** What is incomplete: the records 1 to `count`, those in `rivals` for their number. */
function remembering(count: number, rivals: number[] = []): IncompleteIdentities {
  const all = Array.from({ length: count }, (_, n) => n + 1);
  const behindOf = (behind: mongo.ObjectId | undefined) =>
    all.filter((n) => behind === undefined || idAt(n).toHexString() > behind.toHexString());
  const stub: Partial<IncompleteIdentities> = {
    nextRange: (_kind, behind, most) => {
      const some = behindOf(behind).slice(0, most);
      return Promise.resolve(
        some.length === 0 ? undefined : { behind, end: idAt(some.at(-1)!), count: some.length },
      );
    },
    // oxlint-disable-next-line typescript/require-await
    inRange: async function* (kind, { behind, end }) {
      const some = behindOf(behind).filter((n) => idAt(n).toHexString() <= end.toHexString());
      yield some.map((n) => ({
        _id: { kind, owner: idAt(n) },
        ...(rivals.includes(n) && { isNumber: true as const }),
      }));
    },
  };
  return stub as IncompleteIdentities;
}

/** How many each look finds, until nothing is left to be looked at. */
async function looks(missing: MissingIds): Promise<number[]> {
  const counts: number[] = [];
  for (let look = 0; look < 50; look += 1) counts.push((await missing.next('product')).length);
  return counts.slice(0, counts.findLastIndex((count) => count > 0) + 1);
}

describe('Records without an id', () => {
  it('a hundred of a batch are looked after at once', async () => {
    const missing = new MissingIds(remembering(100));
    expect(missing.notWaiting('product', records(100))).toHaveLength(100);
    expect(await looks(missing)).toEqual([]);
  });

  it('of more than a hundred all wait, and nothing else of the batch does', () => {
    const missing = new MissingIds(remembering(101));
    const batch = [...records(101), recordAt(500, 'named')];
    expect(missing.notWaiting('product', batch).map(({ id }) => id)).toEqual(['named']);
  });

  it('what can never be delivered does not count, and does not wait', () => {
    const missing = new MissingIds(remembering(101));
    const batch = records(101).map((record) => ({ ...record, appid: false as const }));
    expect(missing.notWaiting('product', batch)).toHaveLength(101);
  });

  it('those that wait come a hundred at a time, each once', async () => {
    const missing = new MissingIds(remembering(2350));
    missing.notWaiting('product', records(101));
    const counts = await looks(missing);
    expect(Math.max(...counts)).toBe(100);
    expect(counts.reduce((sum, count) => sum + count)).toBe(2350);
  });

  it('records that are ignored for their number are passed over', async () => {
    const missing = new MissingIds(remembering(10, [2, 3]));
    missing.beginTerm();
    expect(await looks(missing)).toEqual([8]);
  });

  it('where more come while some are given theirs, all are looked through once more', async () => {
    const missing = new MissingIds(remembering(150));
    missing.notWaiting('product', records(101));
    expect(await missing.next('product')).toHaveLength(100);
    missing.notWaiting('product', records(101));
    expect(await looks(missing)).toEqual([50, 0, 100, 50]);
  });

  it('a late answer of a term that was given up ends no walk of the next', async () => {
    let waiting = 0;
    let answer: () => void = () => undefined;
    const remembered = remembering(150);
    const nextRange: IncompleteIdentities['nextRange'] = async (...asked) => {
      if (waiting > 0) return remembered.nextRange(...asked);
      await new Promise<void>((resolve) => (answer = resolve));
      return undefined;
    };
    const missing = new MissingIds({ ...remembered, nextRange } as IncompleteIdentities);
    missing.beginTerm();
    const late = missing.next('product');
    missing.beginTerm();
    missing.notWaiting('product', records(101));
    waiting = 150;
    answer();
    expect(await late).toEqual([]);
    expect(await looks(missing)).toEqual([100, 50, 0, 100, 50]);
  });

  it('a term begins with a look at all that is remembered', async () => {
    const missing = new MissingIds(remembering(150));
    expect(await looks(missing)).toEqual([]);
    missing.beginTerm();
    expect(await looks(missing)).toEqual([100, 50]);
  });
});
