import { Metrics } from '../../../../../src/platform/observability/index.js';
import {
  PageBytes,
  type PageBudget,
  SMALL_BYTES,
} from '../../../../../src/replication/feed/page/page-bytes.js';

const MOST = 10 * SMALL_BYTES;
const LARGE = 6 * SMALL_BYTES;
const forEver = new Promise<void>(() => undefined);

let bytes: PageBytes;
beforeEach(() => {
  bytes = Object.assign(new PageBytes(new Metrics(), { feedMemory: MOST }), { patienceMs: 0 });
});

const open = (gone = new AbortController()) => bytes.open(gone.signal, 'reader');
const records = (least: number) => ({ least, wanted: LARGE });
const ofSmallRecords = records(1024);
const ofLargeRecords = records(LARGE);

/** What has been given out, in the order in which it was. */
function ordered(asking: [name: string, room: Promise<number>][]): string[] {
  const names: string[] = [];
  for (const [name, room] of asking)
    room.then(
      () => names.push(name),
      () => names.push(`${name} is gone`),
    );
  return names;
}
const settled = () => new Promise((resolve) => setImmediate(resolve));

it('where there is room a page gets what it wants, and holds it until it lets go', async () => {
  const share = open();
  expect(await share.room(ofSmallRecords)).toBe(LARGE);
  expect([bytes.inFlight, share.isShort]).toEqual([LARGE, false]);
  share.letGo(LARGE);
  expect(bytes.inFlight).toBe(0);
});

it('where there is none it goes on in small pieces, and nobody starves', async () => {
  await open().room(ofSmallRecords);
  for (let count = 1; count <= 100; count += 1) {
    const share = open();
    expect(await share.room(ofSmallRecords)).toBe(SMALL_BYTES);
    expect(share.isShort).toBe(true);
    expect(bytes.inFlight).toBe(LARGE + count * SMALL_BYTES);
  }
});

it('a small page is never short', async () => {
  await open().room(ofSmallRecords);
  const share = open();
  expect(await share.room({ least: 1024, wanted: SMALL_BYTES })).toBe(SMALL_BYTES);
  expect(share.isShort).toBe(false);
});

it('large records wait for their turn, first come, first served, and small ones pass them by', async () => {
  const first = open();
  await first.room(ofLargeRecords);
  const second = open();
  const names = ordered([
    ['second', second.room(ofLargeRecords)],
    ['third', open().room(ofLargeRecords)],
    ['small', open().room(ofSmallRecords)],
  ]);
  await settled();
  expect(names).toEqual(['small']);
  first.close();
  await settled();
  expect(names).toEqual(['small', 'second']);
  second.close();
  await settled();
  expect(names).toEqual(['small', 'second', 'third']);
});

it('a record larger than all of it comes when everything is free', async () => {
  const first = open();
  await first.room(ofSmallRecords);
  const names = ordered([['huge', open().room({ least: 2 * MOST, wanted: 2 * MOST })]]);
  await settled();
  expect(names).toEqual([]);
  first.close();
  await settled();
  expect([names, bytes.inFlight]).toEqual([['huge'], 2 * MOST]);
});

it('who holds something already never waits for more: two could wait for one another', async () => {
  const shares = [open(), open()];
  for (const share of shares) share.hold(MOST / 2);
  for (const share of shares) expect(await share.room(ofLargeRecords)).toBe(LARGE);
  expect(shares.map(({ isShort }) => isShort)).toEqual([true, true]);
});

it('whoever is gone waits no longer, and holds up nobody', async () => {
  const first = open();
  await first.room(ofLargeRecords);
  const gone = new AbortController();
  const names = ordered([
    ['huge', open(gone).room({ least: MOST, wanted: MOST })],
    ['next', open().room({ least: 2 * SMALL_BYTES, wanted: LARGE })],
  ]);
  await settled();
  expect(names).toEqual([]);
  gone.abort(new Error('left'));
  await settled();
  expect(names.sort()).toEqual(['huge is gone', 'next']);
});

it('what is held or let go after the end counts no more', async () => {
  const share = open();
  share.hold(5);
  share.close();
  share.letGo(5);
  share.hold(7);
  expect(bytes.inFlight).toBe(0);
  await share.room(ofSmallRecords);
  expect(bytes.inFlight).toBe(0);
});

describe('who waits for its client lets go of what it can read again, where another needs it', () => {
  /** A page that holds much, and can let go of it. */
  async function reclaimable(): Promise<{ share: PageBudget; asked: () => number }> {
    const share = open();
    const held = await share.room(ofSmallRecords);
    let asked = 0;
    share.reclaimBy(() => {
      asked += 1;
      share.letGo(held);
    });
    return { share, asked: () => asked };
  }

  it('once, and only while it waits', async () => {
    const { share, asked } = await reclaimable();
    const early = open();
    expect(await early.room(ofSmallRecords)).toBe(SMALL_BYTES);
    expect(asked()).toBe(0);
    void share.whileTaken(forEver);
    expect(await open().room(ofSmallRecords)).toBe(LARGE);
    expect(asked()).toBe(1);
    expect(await open().room(ofSmallRecords)).toBe(SMALL_BYTES);
    expect(asked()).toBe(1);
  });

  it('also for one that waits for its turn, as soon as it can', async () => {
    const { share } = await reclaimable();
    const room = open().room(ofLargeRecords);
    await settled();
    void share.whileTaken(forEver);
    expect(await room).toBe(LARGE);
  });

  it('not where it has waited a short time only', async () => {
    bytes.patienceMs = 60_000;
    const { share, asked } = await reclaimable();
    void share.whileTaken(forEver);
    expect(await open().room(ofSmallRecords)).toBe(SMALL_BYTES);
    expect(asked()).toBe(0);
  });
});
