import { type FeedAnswer, type FeedItem, type HarvestedFeed, isLast, type Reading } from './reading.js';

/** Some items of a harvest that follow one another, and the place before them. */
export interface StretchOfFeed {
  lastoffsetid: string | undefined;
  items: FeedItem[];
  /** Whether the feed ends behind them. */
  isTail: boolean;
}

/** Few items, so that pages of one item are enough: the last ones of a feed, or the first of one that is too long to read. */
export async function stretchOf(
  reading: Reading,
  { feed, pages, items, isWhole }: HarvestedFeed,
  count: number,
): Promise<StretchOfFeed> {
  if (!isWhole) return { lastoffsetid: undefined, items: items.slice(0, count), isTail: false };
  const full = pages.filter((page) => page.items.length > 0);
  const before: FeedAnswer | undefined = full.at(-2);
  const last = full.at(-1)?.items ?? [];
  if (last.length <= count) return { lastoffsetid: before?.nextoffsetid, items: last, isTail: true };
  const limit = String(last.length - count);
  const { nextoffsetid } = await reading.page(feed.path, { limit, lastoffsetid: before?.nextoffsetid });
  return { lastoffsetid: nextoffsetid, items: last.slice(-count), isTail: true };
}

/** The pages of a stretch with a limit. */
export function pagesOfStretch(
  reading: Reading,
  path: string,
  { lastoffsetid, items, isTail }: StretchOfFeed,
  limit: number,
): Promise<FeedAnswer[]> {
  const enough = Math.ceil(items.length / limit) + (isTail ? 2 : 0);
  return reading.walk(path, { limit: String(limit), lastoffsetid }, Math.max(1, enough));
}

/** Whether pages came to their end. */
export function hasEnded(pages: FeedAnswer[]): boolean {
  return isLast(pages.at(-1)!);
}
