import { PASSWORD } from '../support/index.js';
import { CUT, Front } from './front.js';
import type { EndedRun } from './program.js';
import { type Copy, Catalogue } from './source.js';

/** A sync under way: what may be done to it, and how it ends. */
export interface Sync {
  kill(): void;
  end(): Promise<EndedRun>;
}

/** A tool that keeps a copy of the feed in its own way, with its own state. */
export interface Tool {
  /** One sync. */
  sync(): Sync;
  /** What it holds now. */
  copy(): Promise<Copy>;
  clear(): Promise<void>;
}

/** Where the source is to be had, and as whom. */
export interface Address {
  url: string;
  /** Of the service that is harvested, before `/changes`. */
  feed: string;
  username: string;
  password: string;
}

export type Deviation = 'lacks' | 'has too much' | 'holds otherwise';

/** Where a copy differs from the source, by `id`. */
export function differences(copy: Copy, source: Copy): Map<string, Deviation> {
  const found = new Map<string, Deviation>();
  for (const [id, value] of source)
    if (copy.get(id) !== value) found.set(id, copy.has(id) ? 'holds otherwise' : 'lacks');
  for (const id of copy.keys()) if (!source.has(id)) found.set(id, 'has too much');
  return found;
}

/** A source, a tool, and what stands between both. */
export class Story {
  private constructor(
    readonly source: Catalogue,
    readonly front: Front,
    readonly tool: Tool,
  ) {}

  static async begin(toolAt: (address: Address) => Promise<Tool>): Promise<Story> {
    const source = await Catalogue.begin();
    const front = await Front.before(source.service.url);
    const feed = `${front.url}/${source.path}`;
    const address = { url: front.url, feed, username: source.app.user('read'), password: PASSWORD };
    return new Story(source, front, await toolAt(address));
  }

  async end(): Promise<void> {
    await this.tool.clear();
    await this.front.close();
    await this.source.service.stop();
  }

  /** A sync whose second page is refused, so that the tool gives up in its own way. */
  async refusedSync(): Promise<void> {
    this.front.begin((_url, turn) => (turn === 1 ? undefined : { status: 403 }));
    const ended = await this.tool.sync().end();
    if (this.front.asked.length < 2) throw new Error(`It asked for one page only, and ${told(ended)}`);
  }

  /** A sync that is killed when it asks for its second page; the source changes before that. */
  async killedSync(): Promise<void> {
    const running = this.tool.sync();
    this.front.begin(async (_url, turn) => {
      if (turn !== 2) return undefined;
      await this.source.change();
      running.kill();
      return { status: 503 };
    });
    expect((await running.end()).how).toBe('SIGKILL');
  }

  /** A sync that is told to wait before its second page, and before the third the source changes. */
  async disturbedSync(): Promise<void> {
    await this.syncWith(async (_url, turn) => {
      if (turn === 2) return { status: 503, headers: { 'retry-after': '1' } };
      if (turn === 3) await this.source.change();
      return undefined;
    });
    expect(this.front.asked.length).toBeGreaterThan(2);
  }

  /** A sync once the watcher has seen all changes. */
  async sync(): Promise<void> {
    await this.source.service.watcher.caughtUp();
    await this.syncWith(() => undefined);
  }

  /** The same, and the connection of the first request is cut. */
  async cutSync(): Promise<void> {
    await this.source.service.watcher.caughtUp();
    await this.syncWith((_url, turn) => (turn === 1 ? CUT : undefined));
    expect(this.front.asked.length).toBeGreaterThan(1);
  }

  /** The same, from `updates` up to the offset of `max` in place of `changes`. */
  async syncOfUpdates(): Promise<void> {
    await this.source.service.watcher.caughtUp();
    const to = (await this.source.app.max('product')).toISOString();
    await this.syncWith((url) => {
      url.pathname = url.pathname.replace(/changes$/, 'updates');
      url.searchParams.set('to', to);
      return undefined;
    });
  }

  async differences(): Promise<Map<string, Deviation>> {
    return differences(await this.tool.copy(), await this.source.copy());
  }

  private async syncWith(meanwhile: Parameters<Front['begin']>[0]): Promise<void> {
    this.front.begin(meanwhile);
    const ended = await this.tool.sync().end();
    if (ended.how !== 0) throw new Error(`It ${told(ended)}`);
  }
}

function told({ how, stdout, stderr }: EndedRun): string {
  return `ended with ${how} and said:\n${stdout.slice(-3000)}${stderr.slice(-5000)}`;
}
