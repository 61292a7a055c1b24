import { checksOf, feedsIn } from '../contract-check.js';
import type { Findings } from '../findings.js';
import { brief } from '../http-answer.js';
import { type FeedAnswer, idOf, type Reading, stampOf } from '../reading.js';
import type { JudgedFeed } from '../target.js';
import { FAR, isStamp, shifted } from './shapes.js';

const HISTORY_EXPIRED = 410;
const LARGE = 1000;

/** A feed and an item of it that has the stamp that a bound is put on. */
interface Edge {
  path: string;
  id: string;
  stamp: string;
}

/** Does something at the stamp of the first and of the last item of each feed; each is the first one of its stamp. */
async function eachEdge(
  reading: Reading,
  found: Findings,
  look: (edge: Edge) => Promise<void>,
): Promise<void> {
  for (const feed of feedsIn(reading)) {
    const edges = await edgesOf(reading, feed);
    if (edges.length === 0) found.lacking(`no items in ${feed.path}`);
    for (const edge of edges) await look(edge);
  }
}

async function edgesOf(reading: Reading, feed: JudgedFeed): Promise<Edge[]> {
  const { items } = await reading.harvest(feed);
  const stamps = items.map(stampOf).filter(isStamp);
  const ends = [...new Set([stamps[0], stamps.at(-1)])].filter((stamp) => stamp !== undefined);
  return ends.map((stamp) => {
    const item = items.find((one) => stampOf(one) === stamp)!;
    return { path: feed.path, id: idOf(item), stamp };
  });
}

const has = ({ items }: FeedAnswer, id: string) => items.some((item) => idOf(item) === id);

/** Where hard deletes are not kept for ever, a window that is too old is refused. */
function isTooOld({ answer }: FeedAnswer, path: string, found: Findings): boolean {
  if (answer.status !== HISTORY_EXPIRED) return false;
  found.lacking(`${path}: hard deletes of that time have expired`);
  return true;
}

async function fromExclusive(reading: Reading, found: Findings): Promise<void> {
  await eachEdge(reading, found, async ({ path, id, stamp }) => {
    const page = await reading.page(path, { from: stamp, to: shifted(stamp, 1) });
    if (isTooOld(page, path, found)) return;
    const expected = `${path}: from=${stamp} excludes items with this timestamp`;
    const wrong = page.items.find((item) => stampOf(item) <= stamp);
    found.that(page.answer.status === 200 && !has(page, id) && wrong === undefined, page.answer, expected);
  });
}

async function toInclusive(reading: Reading, found: Findings): Promise<void> {
  await eachEdge(reading, found, async ({ path, id, stamp }) => {
    const on = await reading.page(path, { from: shifted(stamp, -1), to: stamp });
    if (isTooOld(on, path, found)) return;
    found.that(
      has(on, id),
      on.answer,
      `${path}: to=${stamp} includes ${brief(id)}, which has this timestamp`,
    );
    const before = await reading.page(path, { from: shifted(stamp, -2), to: shifted(stamp, -1) });
    found.that(
      !has(before, id),
      before.answer,
      `${path}: to=${shifted(stamp, -1)} excludes ${brief(id)}, whose timestamp is ${stamp}`,
    );
  });
}

async function within(reading: Reading, found: Findings): Promise<void> {
  await eachEdge(reading, found, async ({ path, stamp }) => {
    const windows: { from?: string; to?: string }[] = [{ to: stamp }, { from: stamp }];
    for (const query of windows) {
      const page = await reading.page(path, query);
      if (isTooOld(page, path, found)) continue;
      const { from = '', to = reading.to } = query;
      const wrong = page.items.map(stampOf).find((one) => !(one > from && one <= to));
      found.that(
        wrong === undefined,
        page.answer,
        `${path}: timestamps from < lastupdated <= to`,
        brief(wrong),
      );
    }
  });
}

/** Applies bounds after the first item of each feed that exclude something of the page without bounds. */
async function nextPages(reading: Reading, found: Findings): Promise<void> {
  for (const feed of feedsIn(reading)) {
    const { path } = feed;
    const { items } = await reading.harvest(feed);
    const stamps = items.slice(1, LARGE).map(stampOf).filter(isStamp).sort();
    const [least, greatest] = [stamps[0], stamps.at(-1)];
    if (least === undefined || greatest === undefined) {
      found.lacking(`${path} has no second item`);
      continue;
    }
    const { nextoffsetid: lastoffsetid } = await reading.page(path, { limit: '1' });
    for (const query of [{ to: shifted(greatest, -1) }, { from: least }] as {
      from?: string;
      to?: string;
    }[]) {
      const page = await reading.page(path, { ...query, lastoffsetid, limit: String(LARGE) });
      if (isTooOld(page, path, found)) continue;
      const { from = '', to = reading.to } = query;
      const wrong = page.items.map(stampOf).find((one) => !(one > from && one <= to));
      const expected = `${path}: timestamps from < lastupdated <= to after the first page as well`;
      found.that(page.answer.status === 200 && wrong === undefined, page.answer, expected, brief(wrong));
    }
  }
}

async function fromAfterTo(reading: Reading, found: Findings): Promise<void> {
  for (const { path } of feedsIn(reading)) {
    for (const to of [reading.to, shifted(reading.to, -1)]) {
      const page = await reading.page(path, { from: reading.to, to });
      const isEmpty = page.answer.status === 200 && page.items.length === 0;
      found.that(isEmpty, page.answer, `${path}: 200 and an empty page if from >= to`);
    }
  }
}

async function usedTo(reading: Reading, found: Findings): Promise<void> {
  for (const { path } of feedsIn(reading)) {
    for (const query of [{}, { lastoffsetid: '0'.repeat(24) }, { from: reading.to }]) {
      const { answer } = await reading.page(path, { ...query, limit: '1' });
      const used = answer.headers.get('tidemark-to');
      found.that(used === reading.to, answer, `${path}: Tidemark-To: ${reading.to}`, `Tidemark-To: ${used}`);
    }
  }
}

async function futureTo(reading: Reading, found: Findings): Promise<void> {
  for (const { path } of feedsIn(reading)) {
    const page = await reading.page(path, { to: FAR, limit: '5' });
    const used = page.answer.headers.get('tidemark-to');
    const isPinned = isStamp(used) && used < FAR && used >= reading.to;
    const expected = `${path}: 200, with the clock in Tidemark-To instead of ${FAR}`;
    if (!found.that(page.answer.status === 200 && isPinned, page.answer, expected, `Tidemark-To: ${used}`))
      continue;
    const later = page.items.map(stampOf).find((stamp) => stamp > used!);
    found.that(
      later === undefined,
      page.answer,
      `${path}: no item later than the Tidemark-To of a to in the future`,
      brief(later),
    );
  }
}

async function futureToBehind(reading: Reading, found: Findings): Promise<void> {
  for (const { path } of feedsIn(reading)) {
    const { answer } = await reading.page(path, { to: FAR, lastoffsetid: '0'.repeat(24) });
    found.that(
      answer.status === 400,
      answer,
      `${path}: 400 to a to in the future together with lastoffsetid`,
    );
  }
}

export const windowChecks = checksOf('seed', {
  'from-exclusive': ['`from`: `lastupdated > from`.', fromExclusive],
  'to-inclusive': ['`to`: `lastupdated <= to`.', toInclusive],
  window: ['Every item of a window has `from < lastupdated <= to`.', within],
  'window-next-pages': ['`from` and `to` hold on every page, not only on the first one.', nextPages],
  'from-after-to': ['`from >= to` is not an error: the page is empty.', fromAfterTo],
  'tidemark-to': ['The header `Tidemark-To` of every page contains the `to` that was used.', usedTo],
  'to-future': [
    "On a first page, a `to` in the future is replaced with the time of the database's clock.",
    futureTo,
  ],
  'to-future-lastoffsetid': ['A `to` in the future together with `lastoffsetid` is a 400.', futureToBehind],
});
