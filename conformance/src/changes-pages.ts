import { bodyOf, type HttpAnswer, isObject } from './http-answer.js';
import { type FeedItem, stampOf } from './reading.js';
import type { ApplicationAnswers, QueryTexts } from './server.js';
import { filtersOf } from './target.js';

/** One page of `changes`, read leniently: what is not there is empty. */
export interface AnsweredPage {
  answer: HttpAnswer;
  items: FeedItem[];
  to: string;
  nextoffsetid: string;
  next: string | undefined;
  cursor: string;
}

/** How a client goes on from page to page. */
export type WayOn = 'lastoffsetid with the first parameters' | 'lastoffsetid alone' | 'next' | 'cursor';

export const WAYS_ON: WayOn[] = [
  'lastoffsetid with the first parameters',
  'lastoffsetid alone',
  'next',
  'cursor',
];

/** The paths of `changes` behind `/api/v1/`, with that of the three feeds beside each. */
export function changesOf({
  target,
}: ApplicationAnswers): { path: string; filter: string; matchesAll: boolean }[] {
  return filtersOf(target).map(({ path, matchesAll }) => ({
    path: `${path}/changes`,
    filter: path,
    matchesAll,
  }));
}

export async function changesPage(
  server: ApplicationAnswers,
  path: string,
  query: QueryTexts = {},
): Promise<AnsweredPage> {
  return read(await server.ask(path, { query }));
}

/** The pages of a window from its first one on, at most so many; up to a `next` that cannot be followed. */
export async function changesPages(
  server: ApplicationAnswers,
  path: string,
  query: QueryTexts,
  { way, most }: { way: WayOn; most: number },
): Promise<AnsweredPage[]> {
  const pages = [await changesPage(server, path, query)];
  for (let page = pages[0]!; pages.length < most && !isEnd(page, way);) {
    const following = await behind(server, path, query, { page, way });
    if (following === undefined) break;
    page = following;
    pages.push(page);
  }
  return pages;
}

/** Whether a client that goes on in this way is told that the window has ended. A cursor alone does not tell. */
export function isEnd({ nextoffsetid, next, items }: AnsweredPage, way: WayOn): boolean {
  if (items.length === 0) return true;
  return way === 'next' || way === 'cursor' ? next === undefined : nextoffsetid === '';
}

async function behind(
  server: ApplicationAnswers,
  path: string,
  query: QueryTexts,
  { page, way }: { page: AnsweredPage; way: WayOn },
): Promise<AnsweredPage | undefined> {
  const { limit } = query;
  if (way === 'next') {
    const followed = await server.follow(page.next!, page.answer);
    return followed && read(followed);
  }
  if (way === 'cursor') return changesPage(server, path, { limit, cursor: page.cursor });
  const { nextoffsetid: lastoffsetid } = page;
  return changesPage(
    server,
    path,
    way === 'lastoffsetid alone' ? { limit, lastoffsetid } : { ...query, lastoffsetid },
  );
}

function read(answer: HttpAnswer): AnsweredPage {
  const { result, to, nextoffsetid, next, cursor } = bodyOf(answer);
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  return {
    answer,
    items: Array.isArray(result) ? result.filter(isObject) : [],
    to: text(to),
    nextoffsetid: text(nextoffsetid),
    next: typeof next === 'string' ? next : undefined,
    cursor: text(cursor),
  };
}

/** An item of one of the three feeds, as `changes` tells it. */
export function asChange(item: FeedItem, shows: 'updates' | 'softdeletes' | 'harddeletes'): FeedItem {
  if (shows === 'updates') return { op: 'upsert', ...item };
  return {
    op: 'delete',
    id: item['id'],
    lastupdated: stampOf(item),
    reason: shows === 'softdeletes' ? 'left' : 'gone',
  };
}
