import { Injectable } from '@nestjs/common';

/** Some tens of seconds are usual at a fail-over or a pass; what lasts longer does not end by itself (milliseconds). */
const LONGEST_MS = 30_000;

/**
 * For how long this instance has answered feeds nothing but 503 `not-watched`, but for those of services that are being stamped
 * and of applications that are worked through beside all others. Where something is stuck between the raise of a
 * mark and its moment, everything else looks well: the lease is renewed, and `max` is answered.
 */
@Injectable()
export class UnwatchedFeeds {
  private readonly longestMs = LONGEST_MS;
  /** The first and the last of the refusals since a feed was served. */
  private refusals: { first: number; last: number } | undefined;

  /** A feed was served. */
  served(): void {
    this.refusals = undefined;
  }

  /** A feed was answered 503 `not-watched`, for no reason of its own service or application. */
  refused(): void {
    const now = performance.now();
    this.refusals = { first: this.current?.first ?? now, last: now };
  }

  /** Seconds between the first and the last refusal; 0 where a feed was served since, or none was asked for of late. */
  get seconds(): number {
    const { first = 0, last = 0 } = this.current ?? {};
    return (last - first) / 1000;
  }

  get isTooLong(): boolean {
    return this.seconds * 1000 >= this.longestMs;
  }

  /** Refusals are forgotten in time: an instance that gets no requests any more could not show that it serves again. */
  private get current(): { first: number; last: number } | undefined {
    return this.refusals && performance.now() - this.refusals.last < this.longestMs
      ? this.refusals
      : undefined;
  }
}
