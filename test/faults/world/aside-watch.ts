import { setTimeout as wait } from 'node:timers/promises';
import { eventually } from '../../support/index.js';
import { isExpected } from './expected.js';
import type { RecordSource } from './source.js';

const LOOK_MS = 25;

/** Looks again and again which applications the leader works through beside all others. */
export class AsideWatch {
  private readonly there = new Set<string>();
  private times = 0;
  private looks = 0;
  private isOver = false;
  private readonly loop: Promise<void>;

  constructor(private readonly source: RecordSource) {
    this.loop = this.watch();
  }

  /** How often an application was put aside, as far as it was seen, and for how long one was (seconds). */
  get seen(): { times: number; seconds: number } {
    return { times: this.times, seconds: (this.looks * LOOK_MS) / 1000 };
  }

  /** Waits until an application is aside, for so many milliseconds at most. */
  async isThere(within: number): Promise<boolean> {
    return eventually(() => this.there.size > 0, within).then(
      () => true,
      () => false,
    );
  }

  async end(): Promise<void> {
    this.isOver = true;
    await this.loop;
  }

  private async watch(): Promise<void> {
    while (!this.isOver) {
      const names = await this.source.aside().catch((error: unknown) => {
        if (!isExpected(error) && !this.isOver) throw error;
        return undefined;
      });
      if (names !== undefined) this.take(names);
      await wait(LOOK_MS);
    }
  }

  private take(names: string[]): void {
    this.times += names.filter((name) => !this.there.has(name)).length;
    if (names.length > 0) this.looks += 1;
    this.there.clear();
    for (const name of names) this.there.add(name);
  }
}
