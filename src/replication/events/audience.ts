import type { Subscriber } from './subscriber.js';

/** Subscribers with the same right: the same login, for the same application. It is looked at once for all of them. */
export class Audience {
  readonly subscribers = new Set<Subscriber>();
  private isLooking = false;

  constructor(private readonly lookWhetherAllowed: () => Promise<boolean>) {}

  /** Their streams end where the right is gone. Where that cannot be known, they go on. */
  async check(): Promise<void> {
    if (this.isLooking) return;
    this.isLooking = true;
    const isAllowed = await this.lookWhetherAllowed().catch(() => true);
    this.isLooking = false;
    if (!isAllowed) for (const subscriber of this.subscribers) subscriber.end();
  }
}
