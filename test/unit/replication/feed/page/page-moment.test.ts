import { mongo } from 'mongoose';
import { PageMoment } from '../../../../../src/replication/feed/page/page-moment.js';
import { type InForce, UnwatchedFeeds } from '../../../../../src/replication/store/index.js';

const TO = new Date(1000);
const MARK = { organizationid: 'acme', appid: 'shop', kind: 'product' as const };
const SERVICE = { of: { ...MARK, name: 'few' } } as InForce;
const at = (t: number) => new mongo.Timestamp({ t, i: 1 });
/** More than a page may ever cause: a loop that does not end by itself ends here. */
const TOO_MANY = 100;

/** Raises of the mark so far. Each makes a moment of which the watcher has passed the place. */
let raises: number;
/** Whether a moment shows the filter in force, with nothing left to stamp. */
let isShown: (moment: mongo.Timestamp) => boolean;
let isStamped: boolean;
/** Whether the application is worked through beside all others, and whether the watcher passes a raise in time. */
let isAside: boolean;
let isPassed: boolean;
let unwatched: UnwatchedFeeds;
let page: PageMoment;
beforeEach(() => {
  raises = 0;
  isStamped = true;
  isAside = false;
  isPassed = true;
  unwatched = new UnwatchedFeeds();
  const look = () => {
    const watched = at(raises);
    const progress = { since: at(0), watched };
    const moment = { fence: TO, at: watched };
    return Promise.resolve({ clock: new Date(2000), progress, watched, isAside, work: {}, moment });
  };
  const passed = () => {
    if ((raises += 1) > TOO_MANY) throw new Error('It goes on for ever.');
    return Promise.resolve(isPassed);
  };
  const filters = {
    knownFrom: () => undefined,
    isShown: (_service: InForce, moment: mongo.Timestamp) => Promise.resolve(isShown(moment)),
    unsettled: () => Promise.resolve(isStamped ? undefined : { done: 1, total: 4 }),
  };
  page = new PageMoment(
    { markWait: 60_000 } as never,
    { read: look } as never,
    { serving: look, newest: look } as never,
    { passed } as never,
    filters as never,
    {} as never,
    unwatched,
  );
});

const find = () => page.find({ mark: MARK, to: TO, isFirst: true, service: SERVICE });

describe('where records are left to stamp for an edited filter', () => {
  it('a page is shown from the first moment on that has none left', async () => {
    isShown = (moment) => moment.t >= 3;
    expect(await find()).toMatchObject({ to: TO, at: at(3) });
    expect(raises).toBe(3);
  });

  it('a page raises the mark 20 times at most, and is refused, where none comes', async () => {
    isShown = () => false;
    await expect(find()).rejects.toMatchObject({ status: 503, slug: 'not-watched' });
    expect(raises).toBe(20);
  });

  it('a page whose service is not stamped in time raises no mark, and is refused by a sentence that names the service', async () => {
    isShown = () => false;
    isStamped = false;
    const refused = jest.spyOn(unwatched, 'refused');
    await expect(find()).rejects.toMatchObject({
      status: 503,
      slug: 'not-watched',
      message: expect.stringMatching(/product service "few" .* application "acme\/shop" .* \(25 % done\)/),
    });
    expect(raises).toBe(0);
    expect(refused).not.toHaveBeenCalled();
  });
});

it.each<[string, boolean, string, number]>([
  ['where one watcher works for all, by a sentence that names it', false, '"acme/shop"', 1],
  [
    'where the application is worked through beside all others, by one that says so',
    true,
    'separately from those of all others',
    0,
  ],
])('a page whose raise is not passed in time is refused: %s', async (_where, aside, sentence, counted) => {
  [isShown, isAside, isPassed] = [() => false, aside, false];
  const refused = jest.spyOn(unwatched, 'refused');
  await expect(find()).rejects.toMatchObject({
    ...{ status: 503, slug: 'not-watched' },
    message: expect.stringContaining(sentence),
  });
  expect(refused).toHaveBeenCalledTimes(counted);
});
