import { setImmediate } from 'node:timers/promises';

/** How long work keeps the thread before others have a turn (milliseconds). */
const SLICE_MS = 5;

/** Long work in steps: the result, and nothing that is yielded. */
export type Steps<T> = Generator<undefined, T>;

/** The last turn in the queue. One turn of the event loop runs one slice, however many works are in progress. */
let lastTurn: Promise<void> = Promise.resolve();

/** Long work shares the thread that answers all requests: every few milliseconds it lets others have a turn. */
export class TimeSlice {
  private ends = performance.now() + SLICE_MS;

  /** To be awaited between two steps of the work. */
  async step(): Promise<void> {
    if (performance.now() < this.ends) return;
    lastTurn = lastTurn.then(() => setImmediate());
    await lastTurn;
    this.ends = performance.now() + SLICE_MS;
  }

  async take<T>(steps: Steps<T>): Promise<T> {
    for (;;) {
      const { done, value } = steps.next();
      if (done === true) return value;
      await this.step();
    }
  }
}

/** Does the work without a pause, for commands and short inputs. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
