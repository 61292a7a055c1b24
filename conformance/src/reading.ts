import { bodyOf, type HttpAnswer, isObject } from './http-answer.js';
import type { ApplicationAnswers, QueryTexts } from './server.js';
import type { JudgedFeed } from './target.js';

export type FeedItem = Record<string, unknown>;

/** One page of a feed, read leniently: what is not there is empty. */
export interface FeedAnswer {
  answer: HttpAnswer;
  items: FeedItem[];
  nextoffsetid: string;
}

/** A feed up to the pinned `to`, or the begin of it. */
export interface HarvestedFeed {
  feed: JudgedFeed;
  pages: FeedAnswer[];
  items: FeedItem[];
  /** Whether it was read to its end. */
  isWhole: boolean;
}

const HARVEST_LIMIT = 1000;

export const idOf = (item: FeedItem): string => String(item['id']);

/** The stamp of an item, whatever its case; empty where it has none. */
export function stampOf(item: FeedItem): string {
  const stamp = item['lastupdated'] ?? item['lastUpdated'];
  return typeof stamp === 'string' ? stamp : '';
}

/** An item as one text, whatever the order of its properties. */
export function textOf(item: FeedItem): string {
  return JSON.stringify(Object.entries(item).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** What was read of a server up to one `to`; nothing is asked for twice. */
export class Reading {
  private readonly made = new Map<string, Promise<unknown>>();

  constructor(
    readonly server: ApplicationAnswers,
    /** The offset of `max`, or a moment that has passed. */
    readonly to: string,
    /** Greatest number of pages that are read of one feed. */
    private readonly mostPages: number,
  ) {}

  /** The same, with nothing read yet. */
  anew(): Reading {
    return new Reading(this.server, this.to, this.mostPages);
  }

  /** One page, up to the pinned `to` unless the query says otherwise. */
  async page(path: string, query: QueryTexts = {}): Promise<FeedAnswer> {
    return pageOf(await this.server.ask(path, { query: { to: this.to, ...query } }));
  }

  /** All pages from one on, by `nextoffsetid`, the parameters repeated; at most so many. */
  walk(path: string, query: QueryTexts, most = this.mostPages): Promise<FeedAnswer[]> {
    return this.once(`walk ${path} ${most} ${JSON.stringify(query)}`, async () => {
      const pages: FeedAnswer[] = [];
      for (let place = query['lastoffsetid']; pages.length < most;) {
        const page = await this.page(path, { ...query, lastoffsetid: place });
        pages.push(page);
        if (isLast(page) || page.nextoffsetid === place) break;
        place = page.nextoffsetid;
      }
      return pages;
    });
  }

  /** A feed in pages of the default size. */
  async harvest(feed: JudgedFeed, query: QueryTexts = {}): Promise<HarvestedFeed> {
    const pages = await this.walk(feed.path, { ...query, limit: String(HARVEST_LIMIT) });
    return { feed, pages, items: itemsOf(pages), isWhole: isLast(pages.at(-1)!) };
  }

  /** Makes something once, and gives it again to whoever asks under the same key. */
  once<T>(key: string, make: () => Promise<T>): Promise<T> {
    const made = (this.made.get(key) as Promise<T> | undefined) ?? make();
    this.made.set(key, made);
    return made;
  }
}

export function pageOf(answer: HttpAnswer): FeedAnswer {
  const { result, nextoffsetid } = bodyOf(answer);
  return {
    answer,
    items: Array.isArray(result) ? result.filter(isObject) : [],
    nextoffsetid: typeof nextoffsetid === 'string' ? nextoffsetid : '',
  };
}

export function itemsOf(pages: FeedAnswer[]): FeedItem[] {
  return pages.flatMap(({ items }) => items);
}

/** Whether a client that goes on by `nextoffsetid` ends here. */
export function isLast({ items, nextoffsetid }: FeedAnswer): boolean {
  return items.length === 0 || nextoffsetid === '';
}

/** Whether two pages have the same items in the same order. */
export function tellSame(one: FeedAnswer, other: FeedAnswer): boolean {
  return JSON.stringify(one.items.map(idOf)) === JSON.stringify(other.items.map(idOf));
}

/** The first text that was there before. */
export function doubled(texts: string[]): string | undefined {
  const seen = new Set<string>();
  return texts.find((text) => seen.size === seen.add(text).size);
}
