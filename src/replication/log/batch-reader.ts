import type { Batch } from './change-stream.js';

/** How often a pass turns to the stream (milliseconds). */
const EVERY_MS = 1000;

/** Reads a stream in between: a pass writes into the log, and must not lose its own place in it. */
export class Reader {
  private batch: Batch | undefined;
  private readAt = performance.now();

  constructor(private readonly stream: AsyncGenerator<Batch, void>) {}

  /** The last batch that was read and worked through. */
  get last(): Batch {
    if (this.batch === undefined) throw new Error('The change stream ended before it began');
    return this.batch;
  }

  async next(): Promise<Batch> {
    const { value, done } = await this.stream.next();
    if (done !== true) this.batch = value;
    return this.last;
  }

  /** Works through all that has come, once a second at most. */
  async keepUp(workThrough: (batch: Batch) => Promise<void>): Promise<void> {
    if (performance.now() - this.readAt < EVERY_MS) return;
    for (;;) {
      const { value, done } = await this.stream.next();
      if (done === true) break;
      await workThrough(value);
      this.batch = value;
      if (value.isLast) break;
    }
    this.readAt = performance.now();
  }
}
