import { mongo } from 'mongoose';
import type { ControlChange, ControlStream, Follower } from '../../../../src/platform/control/index.js';
import { KnownProgress, WatchedPlace } from '../../../../src/replication/store/known-progress.js';

const [EARLY, LATE] = [1, 2].map((t) => new mongo.Timestamp({ t, i: 0 })) as [
  mongo.Timestamp,
  mongo.Timestamp,
];
const SHOP = { organizationid: 'acme', appid: 'shop' };
const OTHER = { organizationid: 'acme', appid: 'other' };

/** What the database says, and how often it was asked. */
let stored: object | null;
let reads: number;
/** Whether the stream tells everything. */
let isCurrent: boolean;
let followers: Follower[];
let place: WatchedPlace;
let known: KnownProgress;
let left: AbortController;
beforeEach(() => {
  stored = { watched: EARLY };
  reads = 0;
  isCurrent = true;
  followers = [];
  left = new AbortController();
  const findOne = () => {
    reads += 1;
    return Promise.resolve(stored && { _id: 'watcher', ...stored });
  };
  const control = {
    get isCurrent() {
      return isCurrent;
    },
    ...{ clock: new Date(5000), clockByNow: new Date(5000) },
    follow: (follower: Follower) => followers.push(follower),
    readSoon: (read: (options: object) => Promise<unknown>) => read({}),
  } as unknown as ControlStream;
  known = new KnownProgress(control, { collection: { collectionName: 'leases', findOne } } as never);
  place = new WatchedPlace(control, known);
});
afterEach(() => left.abort());

const tell = (fields: object, more: Partial<ControlChange> = {}) => {
  const change: ControlChange = { id: 'watcher', what: 'update', removed: [], fields, ...more };
  for (const follower of followers) follower.hear(change);
};
const soon = () => new Promise((resolve) => setTimeout(resolve, 40));

/** Whether a wait for LATE is over by now; `undefined` waits for every application. */
function waitOf(tenant: typeof SHOP | undefined): { isOver: boolean } {
  const wait = { isOver: false };
  const promise =
    tenant === undefined ? place.reachedByAll(LATE, left.signal) : place.reached(LATE, left.signal, tenant);
  void promise.then((isReached) => (wait.isOver = isReached));
  return wait;
}

it('a place is reached once the stream has told so', async () => {
  const wait = waitOf(SHOP);
  await soon();
  expect(wait.isOver).toBe(false);
  tell({ watched: LATE });
  await soon();
  expect(wait.isOver).toBe(true);
  expect(await place.reached(LATE, left.signal, SHOP)).toBe(true);
  expect(reads).toBe(1);
});

it('while the stream does not tell, the database is asked until the place is reached', async () => {
  isCurrent = false;
  const wait = waitOf(SHOP);
  await soon();
  stored = { watched: LATE };
  await soon();
  expect(wait.isOver).toBe(true);
});

describe('an application that is worked through beside all others', () => {
  const aside = (watched: unknown) => [{ ...SHOP, watched, token: {} }];

  it('has come as far as its own entry tells', async () => {
    stored = { watched: LATE, aside: aside(EARLY) };
    const [own, other, all] = [waitOf(SHOP), waitOf(OTHER), waitOf(undefined)];
    await soon();
    expect([own.isOver, other.isOver, all.isOver]).toEqual([false, true, false]);
    tell({ aside: aside(LATE) });
    await soon();
    expect([own.isOver, all.isOver]).toEqual([true, true]);
  });

  it('is remembered while only the others advance', async () => {
    stored = { watched: EARLY, aside: aside(EARLY) };
    const [own, other] = [waitOf(SHOP), waitOf(OTHER)];
    await soon();
    tell({ watched: LATE });
    await soon();
    expect([own.isOver, other.isOver]).toEqual([false, true]);
  });

  it('has that of all others as soon as it is taken back', async () => {
    stored = { watched: LATE, aside: aside(EARLY) };
    const wait = waitOf(SHOP);
    await soon();
    tell({}, { removed: ['aside'] });
    await soon();
    expect(wait.isOver).toBe(true);
  });

  it('is told by what an instance knows without asking', async () => {
    const since = EARLY;
    stored = { watched: LATE, since, expires: new Date(9000), aside: aside(EARLY) };
    expect(await known.observe(SHOP)).toMatchObject({ watched: EARLY, isAside: true });
    expect(await known.observe(OTHER)).toMatchObject({ watched: LATE, isAside: false });
    tell({ since: LATE });
    expect(await known.observe(SHOP)).toBeUndefined();
    expect(await known.observe(OTHER)).toMatchObject({ watched: LATE });
  });
});

describe('what does not count', () => {
  it('of the stream: a document that is not the lease', async () => {
    const wait = waitOf(SHOP);
    await soon();
    tell({ watched: LATE }, { id: 'copy' });
    await soon();
    expect(wait.isOver).toBe(false);
  });

  it.each<[string, object]>([
    ['a text in place of a cluster time', { watched: 'soon' }],
    ['a text in place of the applications', { watched: LATE, aside: 'all' }],
    [
      'a text in place of the cluster time of the application',
      { watched: LATE, aside: [{ ...SHOP, watched: 'soon' }] },
    ],
    ['an application without a cluster time', { watched: LATE, aside: [{ ...SHOP }] }],
  ])('%s, told or stored', async (_what, state) => {
    const wait = waitOf(SHOP);
    await soon();
    tell(state);
    await soon();
    expect(wait.isOver).toBe(false);
    stored = state;
    isCurrent = false;
    await soon();
    expect(wait.isOver).toBe(false);
    expect(await known.observe(SHOP)).toBeUndefined();
  });

  it('in the list of applications what names none', async () => {
    stored = { watched: LATE, aside: [null, 7, 'acme', { organizationid: 7, appid: null, watched: EARLY }] };
    expect(await place.reached(LATE, left.signal, SHOP)).toBe(true);
    const wait = waitOf(undefined);
    await soon();
    expect(wait.isOver).toBe(false);
  });
});
