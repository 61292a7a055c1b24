import { ask, pathOf } from '../api/client.js';
import { SERVICE } from '../api/place.js';
import type { Tenant } from '../api/types.js';
import { quoted } from '../parts/quoted.js';

/** What is harvested, and as whom. */
export interface Harvest extends Tenant {
  username: string;
  kind: string;
  service: string;
  /** Where the harvest before ended; empty for a first one. */
  from: string;
  limit: string;
}

/** One request of a harvest and what came of it. */
export interface Step {
  title: string;
  url: string;
  curl: string;
  items: unknown[];
  /** What the answer of `max` says. */
  offset?: string;
  /** The feed has more pages, which are not read. */
  isCut?: boolean;
}

interface FeedPage {
  result: unknown[];
  nextoffsetid: string;
}

/** Of each feed so many pages are read at most: the console shows how it goes, and keeps no copy. */
export const MOST_PAGES = 20;

const FEEDS = ['updates', 'softdeletes', 'harddeletes'] as const;
const TITLES = {
  updates: 'Changed and matching',
  softdeletes: 'Changed and not matching',
  harddeletes: 'Gone',
};

/** The steps of a harvest as docs/consuming.md has them, each as soon as it is done. Throws where one fails. */
export async function* steps(harvest: Harvest, signal: AbortSignal): AsyncGenerator<Step> {
  const { organizationid, appid, kind, service, from, limit } = harvest;
  const root = `/${pathOf(organizationid, appid)}/api/v1/${kind}`;
  const max = await step<{ offset: string }>(harvest, 'How far it is safe to read', `${root}/max`, signal);
  const { offset: to } = max.body;
  yield { ...max.step, offset: to };
  for (const feed of FEEDS) {
    const path = feed === 'harddeletes' ? `${root}/${feed}` : `${root}/${pathOf(service)}/${feed}`;
    let lastoffsetid = '';
    for (let page = 1; page <= MOST_PAGES; page += 1) {
      const query = new URLSearchParams({
        ...(from !== '' && { from }),
        ...{ to, limit },
        ...(lastoffsetid !== '' && { lastoffsetid }),
      });
      const title = `${TITLES[feed]}, page ${page}`;
      const { step: done, body } = await step<FeedPage>(
        harvest,
        title,
        `${path}?${query.toString()}`,
        signal,
      );
      lastoffsetid = body.nextoffsetid;
      const isLast = lastoffsetid === '' || body.result.length < Number(limit);
      yield { ...done, items: body.result, isCut: !isLast && page === MOST_PAGES };
      if (isLast) break;
    }
  }
}

async function step<T>(
  { username }: Harvest,
  title: string,
  url: string,
  signal: AbortSignal,
): Promise<{ step: Step; body: T }> {
  const headers = { 'Tidemark-As': encodeURIComponent(username) };
  const { body } = await ask<T>(url, { headers, signal });
  const curl = `curl -u ${quoted(username)} ${quoted(location.origin + SERVICE + url)}`;
  return { step: { title, url, curl, items: [] }, body };
}
