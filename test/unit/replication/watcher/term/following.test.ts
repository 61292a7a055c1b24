import { mongo } from 'mongoose';
import type { Batch } from '../../../../../src/replication/watcher/index.js';
import type { EventsByTenant, WatchedEvent } from '../../../../../src/replication/protocol/index.js';
import { NO_TERM } from '../../../../../src/replication/store/index.js';
import { Following } from '../../../../../src/replication/watcher/term/following.js';
import type { StreamWork, Term } from '../../../../../src/replication/watcher/term/stream-work.js';

const time = (i: number) => new mongo.Timestamp({ t: 1, i });
const tokenAt = (n: number) => ({ _data: `82${String(n).padStart(4, '0')}` });
const OWN = 'own';
const ASIDE = 'aside';

/** A batch that ends at a place of the log, with one event, if any, of an application that is aside or that is not. */
function batch(to: number, of: typeof OWN | typeof ASIDE | undefined, more: Partial<Batch> = {}): Batch {
  const event = { type: of, at: time(to), place: String(to) } as unknown as WatchedEvent;
  return { events: of ? [event] : [], token: tokenAt(to), until: time(to), isLast: false, ...more };
}

/** What is stored of a main stream that reads these batches within a millisecond. */
async function storedOf(batches: Batch[]): Promise<{ token: unknown; watched: mongo.Timestamp }[]> {
  const stored: { token: unknown; watched: mongo.Timestamp }[] = [];
  const work = {
    open: async function* () {
      for (const one of batches) yield await Promise.resolve(one);
    },
    workThrough: (_term: Term, { events }: Pick<Batch, 'events'>): Promise<EventsByTenant> => {
      const own = events.filter(({ type }) => (type as string) === OWN).length;
      const tenant = { organizationid: 'acme', appid: 'shop' };
      return Promise.resolve(new Map(own > 0 ? [['shop', { tenant, count: own }]] : []));
    },
    save: (_term: Term, { token, watched }: { token: unknown; watched: mongo.Timestamp }) => {
      stored.push({ token, watched });
      return Promise.resolve();
    },
  } as unknown as StreamWork;
  const begun = { beginTerm: () => undefined };
  const marks = { find: () => ({ lean: () => Promise.resolve([]) }) };
  const maintenance = { maintainWaiting: () => Promise.resolve() };
  const following = new Following(
    marks as never,
    { keep: () => Promise.resolve(false) } as never,
    work,
    undefined as never,
    maintenance as never,
    begun as never,
    begun as never,
  );
  const state = { term: 1, watched: time(1) };
  const stop = new AbortController().signal;
  await following.follow({ ...NO_TERM, stop, state } as unknown as Term, {
    token: tokenAt(1),
    since: undefined,
  });
  return stored;
}

const at = (n: number) => ({ token: tokenAt(n), watched: time(n) });

describe('the position of the main stream', () => {
  beforeEach(() => void jest.spyOn(performance, 'now').mockReturnValue(1000));
  afterEach(() => jest.restoreAllMocks());

  it('is stored after each batch with events of its own applications', async () => {
    expect(await storedOf([batch(2, OWN), batch(3, OWN), batch(4, undefined)])).toEqual([at(2), at(3)]);
  });

  it('is stored after events of lanes only once the log has no more', async () => {
    const passed = [batch(2, ASIDE), batch(3, ASIDE), batch(4, ASIDE, { isLast: true }), batch(5, undefined)];
    expect(await storedOf(passed)).toEqual([at(4)]);
    const last = batch(3, undefined, { isLast: true });
    expect(await storedOf([batch(2, ASIDE), last, batch(4, undefined, { isLast: true })])).toEqual([at(3)]);
  });

  it('is not before an announcement that a batch reached whose position was not stored', async () => {
    const last = batch(3, undefined, { until: time(2), isLast: true });
    const stored = await storedOf([batch(3, ASIDE), last]);
    expect(stored).toEqual([at(3)]);
  });
});
