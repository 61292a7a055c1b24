import { isRefusal } from '../service/progress.js';
import type { ModelSteps } from '../world/steps.js';
import { ChangesConsumer, type ModelChangesPlace } from './changes.js';
import { NEVER_READ } from './consumer.js';

/** One that stores the cursor of each page of `changes`, and nothing else. */
export class CursorConsumer extends ChangesConsumer {
  private stored: ModelChangesPlace | undefined;
  /** The `id`s that a harvest has told that started over: what it does not tell of goes at its end. */
  private told: Set<string> | undefined;

  protected *harvest(): ModelSteps<boolean> {
    for (;;) {
      const place = this.stored ?? this.beginning();
      const page = yield* this.read(place);
      if (page === 'history-expired') this.startOver();
      if (isRefusal(page)) return false;
      for (const { id } of page.items) this.told?.add(id);
      this.stored = page.next ?? behindWindow(place, page.to);
      this.world.tell?.(`${this.name} stores ${JSON.stringify(this.stored)}`);
      if (page.next !== undefined) continue;
      this.forgetUntold();
      return true;
    }
  }

  private beginning(): ModelChangesPlace {
    return { from: NEVER_READ, offset: '', withDeletes: this.tellsDeletesFirst() };
  }

  private startOver(): void {
    this.stored = undefined;
    this.told = new Set();
    this.beginnings++;
  }

  private forgetUntold(): void {
    const { told } = this;
    if (told === undefined) return;
    for (const id of [...this.copy.held.keys()]) if (!told.has(id)) this.copy.held.delete(id);
    this.told = undefined;
  }
}

function behindWindow({ from }: ModelChangesPlace, to: Date): ModelChangesPlace {
  return { from: to > from ? to : from, offset: '', withDeletes: true };
}
