import type { ModelItem, ModelPage } from '../service/page.js';
import { isRefusal, type ReadRefusal } from '../service/progress.js';
import type { ModelSteps } from '../world/steps.js';
import { FAR, ModelConsumer } from './consumer.js';

/** The window of a harvest, and the place in it; its `to` is settled by the first page. */
export interface ModelChangesPlace {
  from: Date;
  to?: Date;
  offset: string;
  withDeletes: boolean;
}

/** A page of `changes`, and the place behind it; nothing behind the last one. */
export interface ModelChangesAnswer extends ModelPage {
  next: ModelChangesPlace | undefined;
}

/** One that reads `changes`, and knows nothing of stamps within a window: what it is told last of an `id` holds. */
export abstract class ChangesConsumer extends ModelConsumer {
  /** One page. What it tells is applied when it has come; what is stored behind it comes later. */
  protected *read(place: ModelChangesPlace): ModelSteps<ModelChangesAnswer | ReadRefusal> {
    const limit = this.limit();
    const isLoose = this.world.has('pages of changes that settle a window each');
    const to = (isLoose ? undefined : place.to) ?? FAR;
    const page = yield* this.ask({ feed: 'changes', ...place, to, limit });
    if (isRefusal(page)) return page;
    yield;
    for (const item of page.items) this.apply(item);
    yield;
    const last = page.items.at(-1);
    const isFull = last !== undefined && page.items.length === limit;
    return { ...page, next: isFull ? { ...place, to: page.to, offset: last.key } : undefined };
  }

  /** Whether a harvest without `from` asks for deletes: a copy that holds something must hear of them. */
  protected tellsDeletesFirst(): boolean {
    const mayBeHeld = this.copy.held.size > 0;
    if (mayBeHeld && !this.world.has('deletes skipped over a copy that holds something')) return true;
    return this.world.dice.chance(0.5);
  }

  private apply(item: ModelItem): void {
    this.world.tell?.(`${this.name} ${item.section} ${item.id} ${item.text} ${item.stamp.toISOString()}`);
    if (item.section === 'updates') this.copy.put(item);
    else this.copy.held.delete(item.id);
  }
}
