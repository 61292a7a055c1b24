import { checksOf, feedsIn } from '../contract-check.js';
import type { Findings } from '../findings.js';
import { bodyOf, brief } from '../http-answer.js';
import { type FeedItem, idOf, itemsOf, type Reading, stampOf, tellSame } from '../reading.js';
import type { JudgedFeed } from '../target.js';
import { faultOfUpdate, hasExactly, isStamp, OBJECT_ID } from './shapes.js';

const isJson = (type: string | null) => /^application\/json(;|$)/.test(type ?? '');

async function envelope(reading: Reading, found: Findings): Promise<void> {
  for (const { path } of feedsIn(reading)) {
    const { answer } = await reading.page(path, { limit: '3' });
    const { result, nextoffsetid } = bodyOf(answer);
    const isRight =
      hasExactly(bodyOf(answer), ['result', 'nextoffsetid']) &&
      Array.isArray(result) &&
      typeof nextoffsetid === 'string';
    found.that(
      answer.status === 200 && isRight,
      answer,
      `${path}: 200 {"result": [...], "nextoffsetid": "..."}`,
    );
    const type = answer.headers.get('content-type');
    found.that(isJson(type), answer, `${path}: Content-Type: application/json`, `Content-Type: ${type}`);
  }
}

async function emptyPage(reading: Reading, found: Findings): Promise<void> {
  for (const { path } of feedsIn(reading)) {
    const { answer } = await reading.page(path, { from: reading.to });
    const { result, nextoffsetid } = bodyOf(answer);
    const isEmpty = Array.isArray(result) && result.length === 0;
    found.that(isEmpty && nextoffsetid === '', answer, `${path}: "nextoffsetid": "" on an empty page`);
  }
}

/** The first item of which something is said, if any. */
function firstFault(
  items: FeedItem[],
  faultOf: (item: FeedItem) => string | undefined,
): { item: FeedItem; fault: string } | undefined {
  for (const item of items) {
    const fault = faultOf(item);
    if (fault !== undefined) return { item, fault };
  }
  return undefined;
}

/** Looks at all items of the feeds that show the same. */
async function items(
  reading: Reading,
  found: Findings,
  shows: 'updates' | 'softdeletes' | 'harddeletes',
  faultOf: (item: FeedItem) => string | undefined,
): Promise<void> {
  for (const feed of feedsIn(reading, shows)) {
    const { items: shown, pages } = await reading.harvest(feed);
    if (shown.length === 0) {
      found.lacking(`no items in ${feed.path}`);
      continue;
    }
    const first = firstFault(shown, faultOf);
    const expected = `${feed.path}: items with ${first?.fault ?? 'the properties in the contract'}`;
    found.that(first === undefined, pages[0]!.answer, expected, brief(first?.item));
  }
}

function faultOfDelete(item: FeedItem): string | undefined {
  const isRight = hasExactly(item, ['id', 'lastUpdated']) && typeof item['id'] === 'string';
  return isRight && typeof item['lastUpdated'] === 'string'
    ? undefined
    : 'id and lastUpdated (capital U), and no other properties';
}

async function timestamps(reading: Reading, found: Findings): Promise<void> {
  for (const feed of feedsIn(reading)) {
    const { items: shown, pages } = await reading.harvest(feed);
    const written = shown.flatMap((item) => [
      stampOf(item),
      ...('createDate' in item ? [item['createDate']] : []),
    ]);
    if (written.length === 0) found.lacking(`no items in ${feed.path}`);
    const wrong = written.find((stamp) => !isStamp(stamp));
    const expected = `${feed.path}: timestamps YYYY-MM-DDTHH:mm:ss.sssZ`;
    if (written.length > 0) found.that(wrong === undefined, pages[0]!.answer, expected, brief(wrong));
  }
}

async function nextOffsetId(reading: Reading, found: Findings): Promise<void> {
  for (const { path } of feedsIn(reading)) {
    const pages = await reading.walk(path, { limit: '1' }, 3);
    const [first] = pages;
    if (itemsOf(pages).length === 0) {
      found.lacking(`no items in ${path}`);
      continue;
    }
    const expected = `${path}: nextoffsetid of 24 hex digits, the _id of the last item`;
    found.that(OBJECT_ID.test(first!.nextoffsetid), first!.answer, expected);
    const together = await reading.page(path, { limit: '2' });
    const second = pages[1];
    if (second === undefined || together.items.length < 2 || second.items.length < 1) continue;
    const isSame =
      idOf(together.items[1]!) !== idOf(second.items[0]!) || together.nextoffsetid === second.nextoffsetid;
    found.that(
      isSame,
      together.answer,
      `${path}: the same nextoffsetid after the same item, regardless of limit`,
    );
  }
  for (const feed of feedsIn(reading)) await ofLastPage(reading, found, feed);
}

/** The last page need not be full; its place has to be that of a full one which ends with the same item. */
async function ofLastPage(reading: Reading, found: Findings, feed: JudgedFeed): Promise<void> {
  const { path } = feed;
  const { pages } = await reading.harvest(feed);
  const filled = pages.filter((page) => page.items.length > 0);
  const [before, last] = [filled.at(-2), filled.at(-1)];
  if (last === undefined) return;
  const expected = `${path}: also on the last page with items, the _id of the last item as nextoffsetid`;
  if (!found.that(OBJECT_ID.test(last.nextoffsetid), last.answer, expected, brief(last.nextoffsetid))) return;
  const limit = String(last.items.length);
  const full = await reading.page(path, { limit, lastoffsetid: before?.nextoffsetid });
  const isSame = !tellSame(full, last) || full.nextoffsetid === last.nextoffsetid;
  found.that(isSame, last.answer, expected, brief(last.nextoffsetid));
}

export const envelopeChecks = checksOf('seed', {
  envelope: [
    'The envelope is `{"result": [...], "nextoffsetid": "..."}`, and has no other properties.',
    envelope,
  ],
  'empty-page': ['`nextoffsetid` is always a string; on an empty page it is `""`.', emptyPage],
  nextoffsetid: ['`nextoffsetid` is the `_id` of the last item.', nextOffsetId],
  'update-item': [
    'An update item has `id`, `type`, `createDate`, `createdBy`, `lastupdated` (lower-case u), `data`, `channels`, and no other properties.',
    (reading, found) =>
      items(reading, found, 'updates', (item) => faultOfUpdate(item, reading.server.target)),
  ],
  'soft-delete-item': [
    'A soft delete has `id` and `lastUpdated` (capital U), and no other properties.',
    (reading, found) => items(reading, found, 'softdeletes', faultOfDelete),
  ],
  'hard-delete-item': [
    'A hard delete has `id` and `lastUpdated` (capital U), and no other properties.',
    (reading, found) => items(reading, found, 'harddeletes', faultOfDelete),
  ],
  timestamps: ['All timestamps are `YYYY-MM-DDTHH:mm:ss.sssZ`.', timestamps],
});
