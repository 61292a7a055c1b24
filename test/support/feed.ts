import type { Answer } from './answer.js';
import type { TestApplication } from './application.js';
import { onceServed } from './patience.js';

export interface Item {
  id: string;
  type?: string;
  createDate?: string;
  createdBy?: string;
  lastupdated?: string;
  lastUpdated?: string;
  data?: Record<string, unknown>;
  channels?: string[];
}

export interface FeedWindow {
  to?: string | Date;
  from?: string | Date;
  lastoffsetid?: string;
  limit?: number;
}

export interface TestPage {
  answer: Answer;
  items: Item[];
  ids: string[];
  nextoffsetid: string;
  /** The header Tidemark-To. */
  to: string;
}

const FAR = '9999-01-01T00:00:00.000Z';

/** One feed of an application. */
export class TestFeed {
  constructor(
    private readonly app: TestApplication,
    /** Behind `/{org}/{app}/api/v1/`. */
    readonly path: string,
  ) {}

  /** Any answer, with the query as given. */
  ask(query: Record<string, string | string[] | undefined> = { to: FAR }): Promise<Answer> {
    return this.app.get(this.path, { query });
  }

  /** One page; without `to` as far as the clock goes. Waits while the answer is 503. */
  async page(window: FeedWindow = {}): Promise<TestPage> {
    return pageIn(await onceServed(() => this.ask(queryOf(window))));
  }

  /** The page that the `Link` of a page leads to, exactly as it is given; nothing where it leads nowhere. */
  async next(page: TestPage): Promise<TestPage | undefined> {
    const link = page.answer.headers.get('link');
    if (link === null) return undefined;
    const url = /^<(.+)>; rel="next"$/.exec(link)?.[1];
    if (url === undefined) throw new Error(`No link to a next page: ${link}`);
    const next = new URL(url, this.app.urlOf(`api/v1/${this.path}`)).href;
    return pageIn(await onceServed(() => this.app.getUrl(next)));
  }

  /** All items of a window, page by page as the contract says. */
  async drain(window: FeedWindow = {}): Promise<Item[]> {
    const first = await this.page(window);
    const items = [...first.items];
    for (let page = first; page.nextoffsetid !== '';) {
      page = await this.page({ ...window, to: first.to, lastoffsetid: page.nextoffsetid });
      items.push(...page.items);
    }
    return items;
  }
}

function pageIn(answer: Answer): TestPage {
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  const { result, nextoffsetid } = answer.json as { result: Item[]; nextoffsetid: string };
  const ids = result.map((item) => item.id);
  return { answer, items: result, ids, nextoffsetid, to: answer.headers.get('tidemark-to') ?? '' };
}

function queryOf({ to, from, lastoffsetid, limit }: FeedWindow): Record<string, string | undefined> {
  const text = (date: string | Date | undefined) => (date instanceof Date ? date.toISOString() : date);
  return {
    to: text(to) ?? FAR,
    from: text(from),
    lastoffsetid,
    limit: limit === undefined ? undefined : String(limit),
  };
}
