import { setTimeout as wait } from 'node:timers/promises';

/** Does something again and again, so many milliseconds from one beginning to the next at least. */
export class Repeatedly {
  private stopped = false;
  private readonly ended: Promise<number>;

  constructor(every: number, work: () => Promise<unknown>) {
    this.ended = this.run(every, work);
    this.ended.catch(() => undefined);
  }

  /** Ends it; answers how often it was done, or throws what went wrong. */
  stop(): Promise<number> {
    this.stopped = true;
    return this.ended;
  }

  private async run(every: number, work: () => Promise<unknown>): Promise<number> {
    for (let times = 0; ; times++) {
      if (this.stopped) return times;
      const next = Date.now() + every;
      await work();
      await wait(Math.max(0, next - Date.now()));
    }
  }
}
