import { isTimeout } from '../../database/plain.js';

/** Milliseconds for several queries together: each gets what those before it have left. */
export class Allowance {
  private readonly ends: number;

  constructor(ms: number) {
    this.ends = performance.now() + ms;
  }

  /** What a query gives that the server ends when the time is over; undefined where that came first. */
  async ask<T>(
    query: (limit: { maxTimeMS: number }) => Promise<T>,
    atMost = Infinity,
  ): Promise<T | undefined> {
    const left = Math.min(atMost, Math.ceil(this.ends - performance.now()));
    if (left <= 0) return undefined;
    try {
      return await query({ maxTimeMS: left });
    } catch (error) {
      if (isTimeout(error)) return undefined;
      throw error;
    }
  }
}
