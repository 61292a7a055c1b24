import { setTimeout as wait } from 'node:timers/promises';
import { mongo } from 'mongoose';
import type { Batch } from '../../../../../src/replication/watcher/index.js';
import {
  type WatchedEvent,
  type Fences,
  markName,
  isIn,
} from '../../../../../src/replication/protocol/index.js';
import { NO_TERM } from '../../../../../src/replication/store/index.js';
import { Lanes } from '../../../../../src/replication/watcher/term/lanes.js';
import type { StreamWork, Term } from '../../../../../src/replication/watcher/term/stream-work.js';

const SHOP = { organizationid: 'acme', appid: 'shop' };
const ERP = { organizationid: 'acme', appid: 'erp' };
const SHOP_MARK = markName({ ...SHOP, kind: 'product' });

const time = (i: number) => new mongo.Timestamp({ t: 1, i });
/** The token of the n-th place of the log: its first two characters are no part of the place. */
const tokenAt = (n: number) => ({ _data: `82${String(n).padStart(4, '0')}` });
const placeAt = (n: number) => String(n).padStart(4, '0');
const eventAt = (n: number) => ({ type: 'services', at: time(n), place: placeAt(n) }) as WatchedEvent;

function batch(to: number, numbers: number[] = [], isLast = true): Batch {
  return { events: numbers.map(eventAt), token: tokenAt(to), until: time(to), isLast };
}

/** A log that a test writes, for the streams of lanes, and what is stored. */
function stage(aside: object[] = []) {
  const streams: { given: Batch[]; ended: boolean }[] = [];
  const stored: Record<string, unknown>[] = [];
  const worked: number[][] = [];
  let onSave: () => void = () => undefined;
  const work = {
    open: async function* (term: Term, token: unknown) {
      const stream = { given: [] as Batch[], ended: false };
      streams.push(stream);
      try {
        yield { events: [], token, until: time(1), isLast: false };
        while (!term.stop.aborted) {
          const next = stream.given.shift();
          if (next === undefined) await wait(1);
          else yield next;
        }
      } finally {
        stream.ended = true;
      }
    },
    workThrough: (_term: Term, { events }: { events: WatchedEvent[] }) => {
      worked.push(events.map(({ place }) => Number(place)));
      return Promise.resolve(new Map());
    },
    save: async (_term: Term, advance: Record<string, unknown>) => {
      onSave();
      await wait(1);
      stored.push(advance);
    },
    presentTime: () => Promise.resolve(time(99)),
  };
  const over = new AbortController();
  const term = { ...NO_TERM, stop: over.signal, state: { term: 1, aside } } as unknown as Term;
  const fences: Fences = new Map([
    [SHOP_MARK, new Date(1)],
    [markName({ ...ERP, kind: 'product' }), new Date(2)],
  ]);
  const tools = { work: work as unknown as StreamWork, ownPass: undefined as never };
  const lanes = new Lanes(tools, term, fences, tokenAt(1));
  const saving = (during: () => void) => (onSave = during);
  return { lanes, streams, stored, worked, fences, saving, end: () => lanes.end() };
}

const large = (to: number) =>
  batch(
    to,
    Array.from({ length: 500 }, () => to),
    false,
  );
const heavy = (tenant = SHOP) => new Map([['x', { tenant, count: 400 }]]);
const asideIn = (advance: Record<string, unknown> = {}) =>
  (advance['aside'] as { appid: string }[]).map(({ appid }) => appid);

async function until(condition: () => boolean): Promise<void> {
  for (let looks = 0; !condition(); looks += 1) {
    if (looks > 1000) throw new Error('Not so');
    await wait(1);
  }
}

describe('the applications that are worked through beside the main stream', () => {
  it('one is put aside by the write that moves the main stream, and by no other before', async () => {
    const { lanes, streams, stored, end } = stage();
    lanes.come(large(2));
    lanes.putAside(large(2), heavy(), time(2));
    expect(isIn(lanes.mainTerm.share, SHOP)).toBe(false);
    await lanes.save();
    expect(asideIn(stored.at(-1))).toEqual([]);
    expect(streams.length).toBe(0);
    await lanes.saveMain({ token: tokenAt(2), watched: time(2) });
    const none = { changes: 0, echoes: 0 };
    expect(stored.at(-1)).toEqual({
      ...{ token: tokenAt(2), watched: time(2), pace: { seconds: 0, done: 0, added: 0 } },
      aside: [{ ...SHOP, token: tokenAt(2), watched: time(2), counts: { read: none, done: none } }],
    });
    await until(() => streams.length === 1);
    await end();
    expect(streams[0]!.ended).toBe(true);
  });

  it('is told with how many events of the log its own stream has read, of how many that the main stream has', async () => {
    const { lanes, streams, stored, end } = stage();
    lanes.come(large(2));
    lanes.putAside(large(2), heavy(), time(2));
    await lanes.saveMain({ token: tokenAt(2), watched: time(2) });
    const told = () => (stored.at(-1)!['aside'] as object[])[0];
    lanes.come(batch(5, [3, 4, 5]));
    await lanes.saveMain({ token: tokenAt(5), watched: time(5) });
    expect(told()).toMatchObject({ done: 0, total: 3 });
    lanes.come(batch(9, [8, 9]));
    await until(() => streams.length === 1);
    streams[0]!.given.push(batch(4, [3, 4]));
    await until(() => (told() as { done: number }).done > 0);
    expect(told()).toMatchObject({ done: 2, total: 5, pace: { done: 2, added: 2 } });
    await end();
  });

  it('nothing is told of what is left of one that an earlier version has put aside', async () => {
    const { lanes, streams, stored, end } = stage([{ ...SHOP, token: tokenAt(1), watched: time(1) }]);
    lanes.come(batch(9, [8, 9]));
    await until(() => streams.length === 1);
    streams[0]!.given.push(batch(4, [3, 4]));
    await until(() => stored.length > 0);
    expect(stored.at(-1)).toEqual({ aside: [{ ...SHOP, token: tokenAt(4), watched: time(4) }] });
    await end();
  });

  it('the pace of the main stream is told in seconds of the log', async () => {
    const { lanes, stored, end } = stage();
    const at = (t: number) => new mongo.Timestamp({ t, i: 1 });
    const now = jest.spyOn(performance, 'now');
    now.mockReturnValue(1000);
    await lanes.saveMain({ token: tokenAt(2), watched: at(100) });
    now.mockReturnValue(4000);
    await lanes.saveMain({ token: tokenAt(3), watched: at(160) });
    now.mockRestore();
    expect(stored.at(-1)!['pace']).toEqual({ seconds: 3, done: 60, added: 3 });
    await end();
  });

  it.each<[string, Batch, ReturnType<typeof heavy>]>([
    ['a batch that is the last', { ...large(2), isLast: true }, heavy()],
    ['a small batch', batch(2, [2], false), heavy()],
    ['a batch with little of any', large(2), new Map([['x', { tenant: SHOP, count: 100 }]])],
  ])('none for %s', (_name, of, counts) => {
    const { lanes } = stage();
    lanes.putAside(of, counts, time(2));
    expect(lanes.isChanged).toBe(false);
  });

  it('none where no mark of another one was ever raised, and four at most', () => {
    const { lanes, fences } = stage();
    fences.delete(markName({ ...ERP, kind: 'product' }));
    lanes.putAside(large(2), heavy(), time(2));
    expect(lanes.isChanged).toBe(false);
    fences.set(markName({ ...ERP, kind: 'product' }), new Date(2));
    for (const appid of ['a', 'b', 'c', 'd', 'e'])
      lanes.putAside(large(2), heavy({ organizationid: 'acme', appid }), time(2));
    const share = lanes.mainTerm.share as unknown as { but: { appid: string }[] };
    expect(share.but.map(({ appid }) => appid)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('one is taken back within a batch, where its own stream has come to, with its own fences', async () => {
    const { lanes, streams, stored, fences, worked, end } = stage([
      { ...SHOP, token: tokenAt(1), watched: time(1) },
    ]);
    await until(() => streams.length === 1);
    streams[0]!.given.push(batch(5, [3, 5]));
    await until(() => streams[0]!.ended);
    expect(worked).toEqual([[3, 5]]);
    const next = batch(8, [4, 5, 6, 8]);
    lanes.come(next);
    const [first, second] = lanes.partsOf(next);
    expect(first!.events.map(({ place }) => Number(place))).toEqual([4, 5]);
    expect(second!.events.map(({ place }) => Number(place))).toEqual([6, 8]);
    first!.joining!.fences.set(SHOP_MARK, new Date(7));
    lanes.takeBack(first!.joining!);
    expect(isIn(lanes.mainTerm.share, SHOP)).toBe(true);
    expect(fences.get(SHOP_MARK)).toEqual(new Date(7));
    await lanes.save();
    expect(asideIn(stored.at(-1))).toEqual(['shop']);
    await lanes.saveMain({ token: tokenAt(8), watched: time(8) });
    expect(asideIn(stored.at(-1))).toEqual([]);
    await end();
  });

  it('one is parked before its place is stored: the main stream may come to its next batch meanwhile', async () => {
    const { lanes, streams, saving, end } = stage([{ ...SHOP, token: tokenAt(1), watched: time(1) }]);
    await until(() => streams.length === 1);
    let parts: number | undefined;
    saving(() => {
      lanes.come(batch(7, [6, 7]));
      parts = lanes.partsOf(batch(7, [6, 7])).length;
    });
    streams[0]!.given.push(batch(5, [5]));
    await until(() => streams[0]!.ended);
    expect(parts).toBe(2);
    await end();
  });

  it('nothing is written after a write that has failed, which ends the term', async () => {
    const { lanes, stored, saving, end } = stage();
    await lanes.saveMain({ token: tokenAt(2), watched: time(2) });
    saving(() => {
      saving(() => undefined);
      throw new Error('no answer');
    });
    await expect(lanes.save()).rejects.toThrow('no answer');
    await expect(lanes.saveMain({ token: tokenAt(3), watched: time(3) })).rejects.toThrow('no answer');
    expect(stored.length).toBe(1);
    expect(() => lanes.come(batch(4))).toThrow('no answer');
    await end();
  });

  it('what ends one is thrown where the main stream comes to its next batch', async () => {
    const { lanes, streams, saving, end } = stage([{ ...SHOP, token: tokenAt(1), watched: time(1) }]);
    await until(() => streams.length === 1);
    saving(() => {
      throw new Error('refused');
    });
    streams[0]!.given.push(batch(5, [5]));
    await until(() => streams[0]!.ended);
    expect(() => lanes.come(batch(6))).toThrow('refused');
    await end();
  });
});
