import { checksOf, feedsIn } from '../contract-check.js';
import type { Findings } from '../findings.js';
import { brief, type HttpAnswer } from '../http-answer.js';
import {
  doubled,
  type FeedAnswer,
  type FeedItem,
  type HarvestedFeed,
  idOf,
  itemsOf,
  pageOf,
  type Reading,
  tellSame,
} from '../reading.js';
import { hasEnded, pagesOfStretch, stretchOf } from '../stretch.js';

const STRETCH = 5;
const SMALL_LIMITS = [1, 3];
const FULL = 1000;
/** Another than that of the harvest, for feeds of more than one page. */
const ODD_LIMIT = 700;

/** Pages of one feed with one limit, and the items that they must contain. */
interface PagedAgain {
  path: string;
  limit: number;
  pages: FeedAnswer[];
  items: FeedItem[];
  /** Whether the feed ends after these items. */
  isTail: boolean;
}

/** The end of a feed in small pages, and all of it in large ones. */
async function pagedAgain(reading: Reading, harvest: HarvestedFeed): Promise<PagedAgain[]> {
  const { path } = harvest.feed;
  const stretch = await stretchOf(reading, harvest, STRETCH);
  const { items, isTail } = stretch;
  const again: PagedAgain[] = [];
  for (const limit of SMALL_LIMITS)
    again.push({ path, limit, items, isTail, pages: await pagesOfStretch(reading, path, stretch, limit) });
  const { length } = harvest.items;
  const large = length > FULL ? [ODD_LIMIT] : [...new Set([Math.ceil(length / 2), length])];
  for (const limit of harvest.isWhole ? large : [])
    again.push({
      ...{ path, limit, items: harvest.items, isTail: true },
      pages: await reading.walk(path, { limit: String(limit) }, Math.ceil(length / limit) + 2),
    });
  return again;
}

/** Does something for each way of paging through each feed that has items. */
async function eachPaging(
  reading: Reading,
  found: Findings,
  look: (paged: PagedAgain) => void | Promise<void>,
): Promise<void> {
  for (const feed of feedsIn(reading)) {
    const harvest = await reading.harvest(feed);
    if (harvest.items.length === 0) found.lacking(`no items in ${feed.path}`);
    else for (const paged of await pagedAgain(reading, harvest)) await look(paged);
  }
}

function complete(found: Findings, { path, limit, pages, items, isTail }: PagedAgain): void {
  const ids = itemsOf(pages).map(idOf);
  const expected = items.map(idOf);
  const { answer } = pages[0]!;
  const twice = doubled(ids);
  const name = `${path} with limit=${limit}`;
  found.that(twice === undefined, answer, `${name}: no item twice`, `${brief(twice)} twice`);
  const told = new Set(ids);
  const lost = expected.find((id) => !told.has(id));
  found.that(lost === undefined, answer, `${name}: every item of the window`, `${brief(lost)} is missing`);
  const known = new Set(expected);
  const added = isTail ? ids.find((id) => !known.has(id)) : undefined;
  found.that(added === undefined, answer, `${name}: no item that is not in the window`, brief(added));
}

function full(found: Findings, { path, limit, pages }: PagedAgain): void {
  const filled = pages.filter(({ items }) => items.length > 0);
  for (const [place, { items, answer }] of filled.entries()) {
    const isLast = place === filled.length - 1 && hasEnded(pages);
    const isRight = isLast ? items.length <= limit : items.length === limit;
    const expected = `${path}: ${isLast ? 'at most' : 'exactly'} ${limit} items on a page with limit=${limit}`;
    found.that(isRight, answer, expected, `${items.length} items`);
  }
}

function ordered(found: Findings, { path, limit, pages, items }: PagedAgain): void {
  const told = new Set(itemsOf(pages).map(idOf));
  const expected = items.map(idOf).filter((id) => told.has(id));
  const meant = new Set(expected);
  const known = [...told].filter((id) => meant.has(id));
  const at = known.findIndex((id, place) => id !== expected[place]);
  const name = `${path}: the same order with limit=${limit} as in one page`;
  found.that(at === -1, pages[0]!.answer, name, `${brief(known[at])} before ${brief(expected[at])}`);
  const places = pages.map(({ nextoffsetid }) => nextoffsetid).filter((place) => place !== '');
  const isRising = places.every((place, index) => index === 0 || place > places[index - 1]!);
  found.that(isRising, pages[0]!.answer, `${path}: nextoffsetid increases from page to page`, brief(places));
}

async function linked(
  reading: Reading,
  found: Findings,
  { path, limit, pages, items: { length } }: PagedAgain,
): Promise<void> {
  const page = pages.find(({ items }) => items.length === limit);
  if (page === undefined || (limit !== 1 && limit !== length)) return;
  const header = page.answer.headers.get('link');
  const url = nextIn(page.answer);
  const expected = `${path}: Link: <…>; rel="next" on a full page (limit=${limit})`;
  if (!found.that(url !== undefined, page.answer, expected, `Link: ${header}`)) return;
  const answer = await reading.server.follow(url!, page.answer);
  const here = `${path}: a Link that leads to this server (limit=${limit})`;
  if (!found.that(answer !== undefined, page.answer, here, `Link: ${header}`)) return;
  const followed = pageOf(answer!);
  const next = await reading.page(path, { limit: String(limit), lastoffsetid: page.nextoffsetid });
  const isSame = followed.answer.status === 200 && tellSame(followed, next);
  found.that(
    isSame,
    followed.answer,
    `${path}: the Link leads to the page after nextoffsetid (limit=${limit})`,
  );
}

function nextIn({ headers }: HttpAnswer): string | undefined {
  return /<([^>]*)>\s*;[^,]*\brel="?next\b/.exec(headers.get('link') ?? '')?.[1];
}

async function places(reading: Reading, found: Findings): Promise<void> {
  for (const feed of feedsIn(reading)) {
    const { path } = feed;
    const first = await reading.page(path, { limit: '2' });
    if (first.items.length === 0) {
      found.lacking(`no items in ${path}`);
      continue;
    }
    for (const lastoffsetid of ['', '0'.repeat(24)]) {
      const page = await reading.page(path, { limit: '2', lastoffsetid });
      const expected = `${path}: the first page with lastoffsetid=${lastoffsetid}`;
      found.that(page.answer.status === 200 && tellSame(page, first), page.answer, expected);
    }
    const end = await reading.page(path, { limit: '2', lastoffsetid: 'f'.repeat(24) });
    found.that(
      end.answer.status === 200 && end.items.length === 0,
      end.answer,
      `${path}: no items after ffffffffffffffffffffffff`,
    );
  }
}

async function repeated(reading: Reading, found: Findings): Promise<void> {
  for (const { path } of feedsIn(reading)) {
    const [one, other] = [await reading.page(path, { limit: '5' }), await reading.page(path, { limit: '5' })];
    if (one.items.length === 0) found.lacking(`no items in ${path}`);
    else
      found.that(
        one.answer.text === other.answer.text,
        other.answer,
        `${path}: the same page again with the same to`,
      );
  }
}

async function defaultLimit(reading: Reading, found: Findings): Promise<void> {
  for (const { path } of feedsIn(reading, 'updates')) {
    const [page, thousand] = [await reading.page(path), await reading.page(path, { limit: String(FULL) })];
    found.that(
      tellSame(page, thousand),
      page.answer,
      `${path}: without limit, the same page as with limit=1000`,
      `${page.items.length} items`,
    );
  }
}

export const pagingChecks = checksOf('seed', {
  'paging-complete': [
    'Pages of any `limit` contain every item of the window exactly once.',
    (reading, found) => eachPaging(reading, found, (paged) => complete(found, paged)),
  ],
  'page-full': [
    'No page but the last is shorter than `limit`, and none is longer.',
    (reading, found) => eachPaging(reading, found, (paged) => full(found, paged)),
  ],
  'order-by-id': [
    'Items come in the order of `_id`.',
    (reading, found) => eachPaging(reading, found, (paged) => ordered(found, paged)),
  ],
  link: [
    'A full page always has `Link: <...>; rel="next"`, which leads to the next page.',
    (reading, found) => eachPaging(reading, found, (paged) => linked(reading, found, paged)),
  ],
  lastoffsetid: ['`lastoffsetid`: `_id > lastoffsetid`; an empty value is the same as none.', places],
  'pages-agree': ['A page that is requested again with the same `to` is the same.', repeated],
  'limit-default': ['`limit` is 1000 by default.', defaultLimit],
});
