import { changesOf, changesPages, isEnd, type WayOn, WAYS_ON } from '../changes-pages.js';
import type { Findings } from '../findings.js';
import { brief } from '../http-answer.js';
import { type FeedItem, idOf, type Reading, stampOf } from '../reading.js';
import { toldBy } from './changes-window.js';
import { isStamp } from './shapes.js';

const LARGE = 1000;
const MOST_PAGES = 30;
/** The other way repeats the parameters: nothing can be forgotten. */
const WAYS = WAYS_ON.slice(1);

/** A first harvest up to some `to`, from the three feeds. */
interface FirstHarvest {
  path: string;
  to: string;
  upserts: FeedItem[];
  isWhole: boolean;
}

/** `deletes=skip` over more than one page: further pages need not repeat it. */
export async function skipped(reading: Reading, found: Findings): Promise<void> {
  for (const { path, filter } of changesOf(reading.server)) {
    const all = await toldBy(reading, filter);
    if (all.items.length === 0) {
      found.lacking(`no items in ${path}`);
      continue;
    }
    const to = soonest(all.items);
    const upserts = all.items.filter((item) => item['op'] === 'upsert' && stampOf(item) <= to);
    for (const way of WAYS) await skippedBy(reading, found, way, { path, to, upserts, isWhole: all.isWhole });
  }
}

async function skippedBy(
  { server }: Reading,
  found: Findings,
  way: WayOn,
  { path, to, upserts, isWhole }: FirstHarvest,
): Promise<void> {
  const limit = Math.min(LARGE, Math.max(1, Math.ceil(upserts.length / 2)));
  const query = { to, deletes: 'skip', limit: String(limit) };
  const pages = await changesPages(server, path, query, { way, most: MOST_PAGES });
  const { answer } = pages[0]!;
  const came = pages.flatMap(({ items }) => items);
  const deleted = came.find(({ op }) => op !== 'upsert');
  const isRight = pages.every((page) => page.answer.status === 200) && deleted === undefined;
  found.that(isRight, answer, `${path}: only upserts with deletes=skip, by ${way}`, brief(deleted));
  if (!isWhole || !isEnd(pages.at(-1)!, way)) return;
  const ids = new Set(came.map(idOf));
  const lost = upserts.find((item) => !ids.has(idOf(item)));
  found.that(
    lost === undefined,
    answer,
    `${path}: with deletes=skip all items of updates, by ${way}`,
    `missing: ${brief(lost)}`,
  );
}

/** The end of the shortest window that has two upserts and a delete; if there are fewer, the end of a longer one. */
function soonest(items: FeedItem[]): string {
  const stampsOf = (isUpsert: boolean) =>
    items
      .filter(({ op }) => (op === 'upsert') === isUpsert)
      .map(stampOf)
      .filter(isStamp)
      .sort();
  const [upserts, deletes] = [stampsOf(true), stampsOf(false)];
  return [upserts[1] ?? upserts[0] ?? '', deletes[0] ?? ''].sort().at(-1)!;
}
