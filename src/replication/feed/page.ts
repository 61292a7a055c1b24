import type { mongo } from 'mongoose';
import type { Window } from './window.js';

const UNSAFE_IN_LINK = /[<>"]/g;

/** A page as it goes over the wire. */
export interface Page {
  body: string;
  headers: Record<string, string>;
}

/**
 * The envelope of contract §1: `nextoffsetid` is the `_id` of the last item, `""` on an empty page. `Tidemark-To` tells
 * the `to` that was used; a full page links to the next one.
 */
export function pageOf(
  documents: mongo.Document[],
  itemText: (document: mongo.Document) => string,
  window: Window,
  path: string,
): Page {
  const last = documents.at(-1)?.['_id'] as mongo.ObjectId | undefined;
  const nextoffsetid = last?.toHexString() ?? '';
  const headers: Record<string, string> = { 'Tidemark-To': window.to.toISOString() };
  if (documents.length === window.limit)
    headers['Link'] = `<${nextUrl(path, window, nextoffsetid)}>; rel="next"`;
  return {
    body: `{"result":[${documents.map(itemText).join(',')}],"nextoffsetid":"${nextoffsetid}"}`,
    headers,
  };
}

function nextUrl(path: string, { from, to, limit }: Window, lastoffsetid: string): string {
  const query = new URLSearchParams({
    ...(from && { from: from.toISOString() }),
    to: to.toISOString(),
    limit: String(limit),
    lastoffsetid,
  });
  return `${path.replace(UNSAFE_IN_LINK, encodeURIComponent)}?${query.toString()}`;
}
