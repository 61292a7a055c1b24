import type { mongo } from 'mongoose';
import { linkTo } from './link.js';
import type { PageReading } from './page-reader.js';
import type { PageRequest } from './page-request.js';
import { idOf, type PageBeginning, type PageSource } from './page-items.js';
import { type Page, pageOf } from './page.js';

/** What the page of a feed is read of; no reading where there can be no items. */
export interface FeedSource extends Pick<PageSource, 'reader' | 'share'> {
  reading: PageReading | undefined;
}

/**
 * The envelope of contract §1: `nextoffsetid` is the `_id` of the last item, `""` on an empty page. Behind it stands a line
 * break, so that a shell's next prompt stands on a line of its own. A full page links to the next one.
 */
export function feedPage({ reading, ...source }: FeedSource, { window }: PageRequest): Promise<Page> {
  const whole = { ...source, readings: reading === undefined ? [] : [reading], window };
  return pageOf(whole, {
    headers: async (beginning) => {
      const lastoffsetid = await lastOf(whole, beginning);
      return lastoffsetid === undefined ? {} : linkTo(window, { lastoffsetid });
    },
    tail: (end) => `],"nextoffsetid":"${end?.last ?? ''}"}\n`,
  });
}

/**
 * The last item of a full page. Where the page is too large to be held, its `_id`s are read ahead of their documents.
 */
async function lastOf(
  { reader, readings, window }: PageSource,
  { count, end, isAll }: PageBeginning,
): Promise<mongo.ObjectId | undefined> {
  if (end === undefined) return undefined;
  const lastoffsetid = idOf(end.last);
  if (count === window.limit) return lastoffsetid;
  return isAll
    ? undefined
    : reader.last(readings[end.reading]!, { ...window, limit: window.limit - count, lastoffsetid });
}
