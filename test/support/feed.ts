import type { Answer } from './answer.js';
import type { TestApplication } from './application.js';

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
    private readonly path: string,
  ) {}

  /** Any answer, with the query as given. */
  ask(query: Record<string, string | string[] | undefined> = { to: FAR }): Promise<Answer> {
    return this.app.get(this.path, { query });
  }

  /** One page; without `to` as far as the clock goes. */
  async page(window: FeedWindow = {}): Promise<TestPage> {
    const answer = await this.ask(queryOf(window));
    if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
    const { result, nextoffsetid } = answer.json as { result: Item[]; nextoffsetid: string };
    const ids = result.map((item) => item.id);
    return { answer, items: result, ids, nextoffsetid, to: answer.headers.get('tidemark-to') ?? '' };
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

function queryOf({ to, from, lastoffsetid, limit }: FeedWindow): Record<string, string | undefined> {
  const text = (date: string | Date | undefined) => (date instanceof Date ? date.toISOString() : date);
  return {
    to: text(to) ?? FAR,
    from: text(from),
    lastoffsetid,
    limit: limit === undefined ? undefined : String(limit),
  };
}
