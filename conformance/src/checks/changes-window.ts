import type { JudgedServer } from '../target.js';
import {
  asChange,
  changesOf,
  changesPages,
  isEnd,
  WAYS_ON,
  type AnsweredPage,
  type WayOn,
} from '../changes-pages.js';
import type { Findings } from '../findings.js';
import { type FeedItem, type HarvestedFeed, type Reading, stampOf } from '../reading.js';
import type { JudgedFeed } from '../target.js';
import { isStamp, shifted } from './shapes.js';

/** A window of `changes` as read in one way, and the items of the three feeds in it. */
export interface ToldWindow {
  path: string;
  target: JudgedServer;
  from: string | undefined;
  limit: number;
  way: WayOn;
  pages: AnsweredPage[];
  told: FeedItem[];
  /** Whether both were read to their end. */
  isWhole: boolean;
}

const LARGE = 1000;
const MOST_LARGE_PAGES = 100;
/** Of the first way on; for the others one of them is enough. */
const SMALL_LIMITS = [2, 1, 3];
const FEW = 5;
const MOST_SMALL_PAGES = 30;

/** Does something for each `changes`: for all up to the pinned `to`, and in small pages for the newest of it. */
export async function eachWindow(
  reading: Reading,
  found: Findings,
  look: (told: ToldWindow) => void,
): Promise<void> {
  for (const { path, filter } of changesOf(reading.server)) {
    const all = await toldBy(reading, filter);
    if (all.items.length === 0) {
      found.lacking(`no items in ${path}`);
      continue;
    }
    look(await windowOf(reading, { path, ...all, from: undefined, limit: LARGE, way: WAYS_ON[0]! }));
    const newest = await newestOf(reading, filter, all.items);
    if (newest === undefined) continue;
    if (newest.isRefused) {
      found.lacking(`${path}: 410 to a window from that time`);
      continue;
    }
    for (const way of WAYS_ON)
      for (const limit of way === WAYS_ON[0] ? SMALL_LIMITS : SMALL_LIMITS.slice(0, 1))
        look(await windowOf(reading, { path, ...newest, limit, way }));
  }
}

const GONE = 410;

interface Told {
  items: FeedItem[];
  isWhole: boolean;
  /** Whether a feed answers 410, as where hard deletes of that time have expired: then `changes` does so as well. */
  isRefused: boolean;
}

interface WindowPlan extends Omit<Told, 'isRefused'> {
  path: string;
  from: string | undefined;
  limit: number;
  way: WayOn;
}

async function windowOf(
  reading: Reading,
  { path, from, limit, way, items, isWhole }: WindowPlan,
): Promise<ToldWindow> {
  const most = limit === LARGE ? MOST_LARGE_PAGES : MOST_SMALL_PAGES;
  const query = { from, to: reading.to, limit: String(limit) };
  const pages = await reading.once(`changes ${path} ${way} ${JSON.stringify(query)}`, () =>
    changesPages(reading.server, path, query, { way, most }),
  );
  const { target } = reading.server;
  return {
    path,
    target,
    from,
    limit,
    way,
    pages,
    told: items,
    isWhole: isWhole && isEnd(pages.at(-1)!, way),
  };
}

/** The items of the three feeds in a window. */
export async function toldBy(reading: Reading, filter: string, from?: string): Promise<Told> {
  const { kind } = reading.server.target;
  const feeds: JudgedFeed[] = [
    { path: `${filter}/updates`, shows: 'updates' },
    { path: `${filter}/softdeletes`, shows: 'softdeletes' },
    { path: `${kind}/harddeletes`, shows: 'harddeletes' },
  ];
  const harvests: HarvestedFeed[] = [];
  for (const feed of feeds) harvests.push(await reading.harvest(feed, from === undefined ? {} : { from }));
  return {
    items: harvests.flatMap(({ feed, items }) => items.map((item) => asChange(item, feed.shows))),
    isWhole: harvests.every(({ isWhole }) => isWhole),
    isRefused: harvests.some(({ pages }) => pages[0]!.answer.status === GONE),
  };
}

/** A window that begins before the newest few items; undefined if there are no timestamps. */
async function newestOf(
  reading: Reading,
  filter: string,
  all: FeedItem[],
): Promise<(Told & { from: string }) | undefined> {
  const stamps = all.map(stampOf).filter(isStamp).sort();
  const stamp = stamps.at(-FEW) ?? stamps[0];
  if (stamp === undefined) return undefined;
  const from = shifted(stamp, -1);
  return { ...(await toldBy(reading, filter, from)), from };
}
