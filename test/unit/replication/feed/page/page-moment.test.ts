import { mongo } from 'mongoose';
import { UnwatchedFeeds } from '../../../../../src/replication/progress/index.js';
import { PageMoment } from '../../../../../src/replication/feed/page/page-moment.js';
import type { InForce } from '../../../../../src/replication/filters/index.js';

const TO = new Date(1000);
const MARK = { organizationid: 'acme', appid: 'shop', kind: 'product' as const };
const at = (t: number) => new mongo.Timestamp({ t, i: 1 });
/** More than a page may ever cause: a loop that does not end by itself ends here. */
const TOO_MANY = 100;

/** Raises of the mark so far. Each makes a moment of which the watcher has passed the place. */
let raises: number;
/** Whether a moment shows the filter in force, with nothing left to stamp. */
let isShown: (moment: mongo.Timestamp) => boolean;
let page: PageMoment;
beforeEach(() => {
  raises = 0;
  const look = () => {
    const watched = at(raises);
    const progress = { since: at(0), watched };
    return Promise.resolve({ clock: new Date(2000), progress, watched, moment: { fence: TO, at: watched } });
  };
  const passed = () => {
    if ((raises += 1) > TOO_MANY) throw new Error('It goes on for ever.');
    return Promise.resolve(true);
  };
  const filters = {
    knownFrom: () => undefined,
    isShown: (_service: InForce, moment: mongo.Timestamp) => Promise.resolve(isShown(moment)),
  };
  page = new PageMoment(
    { markWait: 60_000 } as never,
    { read: look } as never,
    { serving: look, newest: look } as never,
    { passed } as never,
    filters as never,
    {} as never,
    new UnwatchedFeeds(),
  );
});

const find = () => page.find({ mark: MARK, to: TO, isFirst: true, service: {} as InForce });

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
});
