import { isRefusal, type ReadRefusal } from '../service/progress.js';
import type { ModelSteps } from '../world/steps.js';
import { type ModelChangesAnswer, ChangesConsumer, type ModelChangesPlace } from './changes.js';
import { NEVER_READ } from './consumer.js';

/** A generic tool: it keeps the greatest stamp that a complete harvest of `changes` has told, as the next `from`. */
export class GreatestStampConsumer extends ChangesConsumer {
  private from = NEVER_READ;

  protected *harvest(): ModelSteps<boolean> {
    let { from } = this;
    let place: ModelChangesPlace | undefined = {
      from,
      offset: '',
      withDeletes: from > NEVER_READ || this.mustHearOfDeletes() || this.tellsDeletesFirst(),
    };
    while (place !== undefined) {
      const page: ModelChangesAnswer | ReadRefusal = yield* this.read(place);
      if (page === 'history-expired') this.startOver();
      if (isRefusal(page)) return false;
      for (const { stamp } of page.items) if (stamp > from) from = stamp;
      place = page.next;
      if (this.world.has('the state of an incomplete harvest kept')) this.from = from;
    }
    this.from = from;
    this.world.tell?.(`${this.name} stores ${from.toISOString()}`);
    return true;
  }

  /** Where hard deletes expire: the stamp of a record alone may lie before those removed, and would be told 410 for ever. */
  private mustHearOfDeletes(): boolean {
    return this.world.profile.parts.expire !== undefined;
  }

  private startOver(): void {
    this.copy.held.clear();
    this.from = NEVER_READ;
    this.beginnings++;
  }
}
