import { askMax } from '../service/max.js';
import type { ModelFeed, ModelItem } from '../service/page.js';
import { isRefusal, type ReadRefusal } from '../service/progress.js';
import type { ModelSteps } from '../world/steps.js';
import { FAR, ModelConsumer, NEVER_READ } from './consumer.js';

/** One that reads the three feeds of the seed. */
export class ThreeFeedsConsumer extends ModelConsumer {
  private from = NEVER_READ;

  protected *harvest(): ModelSteps<boolean> {
    let to: Date | undefined;
    if (this.world.asksMax || this.world.dice.chance(0.5)) {
      const max = yield* this.insist(() => askMax(this.world, this.someInstance(), this.appid));
      if (isRefusal(max)) return false;
      to = max;
    }
    for (const feed of this.feeds()) {
      const used: Date | ReadRefusal = yield* this.readFeed(feed, to);
      if (used === 'history-expired') this.startOver();
      if (isRefusal(used)) return false;
      to = used;
    }
    if (to !== undefined && to > this.from) this.from = to;
    this.world.tell?.(`${this.name} stores ${this.from.toISOString()}`);
    return true;
  }

  private startOver(): void {
    this.copy.held.clear();
    this.from = NEVER_READ;
    this.beginnings++;
  }

  /** All pages of a feed; answers the `to` that was used. */
  private *readFeed(feed: ModelFeed, upTo: Date | undefined): ModelSteps<Date | ReadRefusal> {
    let to = upTo ?? FAR;
    for (let offset = ''; ;) {
      const limit = this.limit();
      const page = yield* this.ask({ feed, from: this.from, to, offset, limit });
      if (isRefusal(page)) return page;
      to = page.to;
      yield;
      for (const item of page.items) this.apply(feed, item);
      const last = page.items.at(-1);
      if (last === undefined || page.items.length < limit) return to;
      offset = last.key;
    }
  }

  private apply(feed: ModelFeed, item: ModelItem): void {
    this.world.tell?.(`${this.name} ${feed} ${item.id} ${item.text} ${item.stamp.toISOString()}`);
    if (feed === 'updates') this.copy.apply(item);
    else this.copy.remove(item);
  }

  /** The order is the consumer's own. */
  private feeds(): ModelFeed[] {
    const feeds: ModelFeed[] = ['updates', 'softdeletes', 'harddeletes'];
    const first = feeds.splice(this.world.dice.below(3), 1);
    if (this.world.dice.chance(0.5)) feeds.reverse();
    return [...first, ...feeds].filter((feed) => feed !== 'softdeletes' || this.service !== undefined);
  }
}
