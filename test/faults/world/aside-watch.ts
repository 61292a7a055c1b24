import { setTimeout as wait } from 'node:timers/promises';
import type { mongo } from 'mongoose';
import type { WatchState } from '../../../src/replication/protocol/index.js';
import { eventually } from '../../support/index.js';
import { isExpected } from './expected.js';
import type { RecordSource } from './source.js';

const LOOK_MS = 25;

/** A pass of one application that was seen: its last term, whether its stream was opened in it or before, and since when the application was shown. */
interface SeenPass {
  term: number;
  isOpened: boolean;
  since: mongo.Timestamp | undefined;
}

/** Looks again and again which applications the leader works through beside all others. */
export class AsideWatch {
  private readonly there = new Set<string>();
  private readonly passing = new Map<string, SeenPass>();
  private placed = 0;
  private times = 0;
  private looks = 0;
  private readonly counts = { begun: 0, ended: 0, cutOff: 0 };
  private isOver = false;
  private readonly loop: Promise<void>;

  constructor(private readonly source: RecordSource) {
    this.loop = this.watch();
  }

  /** How often an application was put aside, as far as it was seen, and for how long one was (seconds). */
  get seen(): { times: number; seconds: number } {
    return { times: this.times, seconds: (this.looks * LOOK_MS) / 1000 };
  }

  /** Passes of one application, as far as they were seen: those that came to their end, and how often one had begun when its term was over. */
  get passes(): { begun: number; ended: number; cutOff: number } {
    return { ...this.counts };
  }

  /** Waits until an application is aside that has a place in the log, for so many milliseconds at most. */
  async isThere(within: number): Promise<boolean> {
    return eventually(() => this.placed > 0, within).then(
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
      const lease = await this.source.lease().catch((error: unknown) => {
        if (!isExpected(error) && !this.isOver) throw error;
        return null;
      });
      if (lease !== null) this.take(lease);
      await wait(LOOK_MS);
    }
  }

  private take(lease: WatchState): void {
    const { aside = [] } = lease;
    const names = aside.map(nameOf);
    this.times += names.filter((name) => !this.there.has(name)).length;
    if (names.length > 0) this.looks += 1;
    this.there.clear();
    for (const name of names) this.there.add(name);
    this.placed = aside.filter(({ pass }) => pass === undefined).length;
    this.countPasses(lease);
  }

  private countPasses({ term, since, aside = [], pass }: WatchState): void {
    const entries = new Map(aside.map((one) => [nameOf(one), one]));
    for (const [name, { pass: own }] of entries) {
      if (own === undefined) continue;
      const seen = this.passing.get(name);
      if (seen === undefined) this.counts.begun += 1;
      else if (seen.term !== term && seen.isOpened) this.counts.cutOff += 1;
      const isOpened = own.reached !== undefined;
      this.passing.set(name, { term, isOpened, since: seen === undefined ? since : seen.since });
    }
    for (const [name, seen] of this.passing) {
      const entry = entries.get(name);
      if (entry?.pass !== undefined) continue;
      this.passing.delete(name);
      const shown = entry?.since ?? since;
      // A pass over everything takes its place. Its end moves what is shown.
      if (pass === undefined && shown !== undefined && (seen.since?.lessThan(shown) ?? true))
        this.counts.ended += 1;
    }
  }
}

function nameOf({ organizationid, appid }: { organizationid: string; appid: string }): string {
  return JSON.stringify([organizationid, appid]);
}
