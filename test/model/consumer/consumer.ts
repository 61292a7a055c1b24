import { askPage, type ModelPage, type ModelPageRequest } from '../service/page.js';
import type { ReadRefusal } from '../service/progress.js';
import { APPLICATION } from '../world/documents.js';
import type { ModelSteps } from '../world/steps.js';
import type { Instance, ModelWorld } from '../world/world.js';
import { ModelCopy } from './copy.js';

/** A `to` that is read as the clock. */
export const FAR = new Date('2100-01-01T00:00:00.000Z');
/** Stands for no `from`. */
export const NEVER_READ = new Date(0);
const MOST_ITEMS = 3;
const FULL = 1000;

/** One that harvests again and again, each page from any instance, and keeps a copy. */
export abstract class ModelConsumer {
  readonly copy = new ModelCopy();
  /** Harvests that came to their end. */
  harvests = 0;
  /** How often it was told to start over. */
  beginnings = 0;
  steps: ModelSteps;

  constructor(
    protected readonly world: ModelWorld,
    readonly name: string,
    /** None for `default`. */
    readonly service?: string,
    readonly appid: string = APPLICATION,
  ) {
    this.steps = this.live();
  }

  /** What was applied and stored stays, the harvest under way is forgotten. */
  crash(): void {
    this.steps = this.live();
  }

  /** False where it was refused. */
  protected abstract harvest(): ModelSteps<boolean>;

  protected ask(request: Omit<ModelPageRequest, 'service' | 'appid'>): ModelSteps<ModelPage | ReadRefusal> {
    const whole = { ...request, appid: this.appid, ...(this.service && { service: this.service }) };
    return this.insist(() => askPage(this.world, this.someInstance(), whole));
  }

  /** Repeats a request that was put off. */
  protected *insist<T extends object>(ask: () => ModelSteps<T | ReadRefusal>): ModelSteps<T | ReadRefusal> {
    for (;;) {
      const answer = yield* ask();
      if (answer !== 'preparing' && answer !== 'not-watched') return answer;
      yield;
    }
  }

  protected limit(): number {
    const { dice, profile } = this.world;
    return profile.smallPages || dice.chance(0.5) ? 1 + dice.below(MOST_ITEMS) : FULL;
  }

  protected someInstance(): Instance {
    return this.world.dice.pick(this.world.instances);
  }

  private *live(): ModelSteps {
    for (;;) {
      yield;
      if (yield* this.harvest()) this.harvests++;
    }
  }
}
