import { askMax } from '../service/max.js';
import {
  askPage,
  type ModelFeed,
  type ModelItem,
  type ModelPage,
  type ModelPageRequest,
} from '../service/page.js';
import { isRefusal, type ReadRefusal } from '../service/progress.js';
import type { ModelSteps } from '../world/steps.js';
import type { ModelWorld } from '../world/world.js';
import { ModelCopy } from './copy.js';

const FAR = new Date('2100-01-01T00:00:00.000Z');
const MOST_ITEMS = 3;
const FULL = 1000;

/** One that harvests again and again, each page from any instance, and keeps a copy. */
export class ModelConsumer {
  readonly copy = new ModelCopy();
  /** Harvests that came to their end. */
  harvests = 0;
  /** How often it was told to start over with an empty copy. */
  beginnings = 0;
  steps: ModelSteps;
  private from = new Date(0);

  constructor(
    private readonly world: ModelWorld,
    readonly name: string,
    /** None for `default`. */
    readonly service?: string,
  ) {
    this.steps = this.live();
  }

  /** What was applied and stored stays, the harvest under way is forgotten. */
  crash(): void {
    this.steps = this.live();
  }

  private *live(): ModelSteps {
    for (;;) {
      yield;
      if (yield* this.harvest()) this.harvests++;
    }
  }

  /** False where it was refused. */
  private *harvest(): ModelSteps<boolean> {
    let to: Date | undefined;
    if (this.world.asksMax || this.world.dice.chance(0.5)) {
      const max = yield* this.insist(() => askMax(this.world, this.someInstance()));
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
    this.from = new Date(0);
    this.beginnings++;
  }

  /** All pages of a feed; answers the `to` that was used. */
  private *readFeed(feed: ModelFeed, upTo: Date | undefined): ModelSteps<Date | ReadRefusal> {
    let to = upTo ?? FAR;
    for (let offset = ''; ;) {
      const limit = this.limit();
      const request = {
        feed,
        from: this.from,
        to,
        offset,
        limit,
        ...(this.service && { service: this.service }),
      };
      const page = yield* this.insist(() => this.ask(request));
      if (isRefusal(page)) return page;
      to = page.to;
      yield;
      for (const item of page.items) this.apply(feed, item);
      const last = page.items.at(-1);
      if (last === undefined || page.items.length < limit) return to;
      offset = last.key;
    }
  }

  private ask(request: ModelPageRequest): ModelSteps<ModelPage | ReadRefusal> {
    return askPage(this.world, this.someInstance(), request);
  }

  /** Repeats a request that was put off. */
  private *insist<T extends object>(ask: () => ModelSteps<T | ReadRefusal>): ModelSteps<T | ReadRefusal> {
    for (;;) {
      const answer = yield* ask();
      if (answer !== 'preparing' && answer !== 'not-watched') return answer;
      yield;
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

  private limit(): number {
    return this.world.dice.chance(0.5) ? 1 + this.world.dice.below(MOST_ITEMS) : FULL;
  }

  private someInstance() {
    return this.world.dice.pick(this.world.instances);
  }
}
