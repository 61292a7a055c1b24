import { setTimeout as wait } from 'node:timers/promises';
import type { Item } from '../../support/index.js';
import type { Random } from '../plan/index.js';
import type { Journal } from '../world/index.js';
import { FollowedCopy } from './copy.js';
import type { Follows } from './follows.js';
import { pagesOf, type HarvestWindow } from './pages.js';
import { type PatientClient, UnknownService } from './patient-client.js';

const FAR = '9999-01-01T00:00:00.000Z';
const LARGEST_PAGE = 30;

/** How often a harvest goes without `max`, by a `to` in the future. */
const WITHOUT_MAX = 0.25;
const UNREGISTERED_MS = 100;

/** A program that copies what it follows, exactly as docs/consuming.md says. */
export class Consumer {
  readonly copy = new FollowedCopy();
  /** Harvests that were brought to their end. */
  harvests = 0;
  /** Answers of `max`. */
  maxes = 0;
  private from: string | undefined;

  constructor(
    readonly follows: Follows,
    private readonly parts: { client: PatientClient; random: Random; journal: Journal },
  ) {}

  /** Harvests again and again until the signal. */
  async follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.harvest();
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof UnknownService)) throw error;
        await wait(UNREGISTERED_MS);
      }
    }
  }

  /** One complete harvest; what it read up to becomes the next `from` only at its end. */
  private async harvest(): Promise<void> {
    const { updates, softdeletes, harddeletes } = this.follows;
    const window: HarvestWindow = { from: this.from, to: await this.horizon() };
    await this.drain(updates, window, (item) => this.copy.update(item));
    await this.drain(softdeletes, window, (item) => this.copy.remove(item));
    await this.drain(harddeletes, window, (item) => this.copy.remove(item));
    this.from = window.to;
    this.harvests += 1;
  }

  private async horizon(): Promise<string> {
    if (this.parts.random.chance(WITHOUT_MAX)) return FAR;
    const max = await this.parts.client.max(this.follows.kind);
    this.maxes += 1;
    return max;
  }

  private async drain(feed: string, window: HarvestWindow, apply: (item: Item) => boolean): Promise<void> {
    const { client, random } = this.parts;
    for await (const page of pagesOf(client, feed, window, () => 1 + random.below(LARGEST_PAGE))) {
      if (window.to === FAR) window.to = page.to;
      for (const item of page.items) {
        assertInside(feed, window, item);
        this.note(feed, item, apply(item));
      }
    }
  }

  private note(feed: string, item: Item, applied: boolean): void {
    const stamp = item.lastupdated ?? item.lastUpdated;
    const verdict = applied ? 'applied' : 'passed over, older than what is held';
    this.parts.journal.note(item.id, `${this.follows.name}: ${feed} of ${stamp} ${verdict}`);
  }
}

function assertInside(feed: string, { from = '', to }: HarvestWindow, item: Item): void {
  const stamp = item.lastupdated ?? item.lastUpdated ?? '';
  if (stamp <= from || stamp > to)
    throw new Error(`${feed} from ${from} to ${to} gave ${item.id} with the stamp ${stamp}`);
}
