import type { Subscriber } from './subscriber.js';

/** How far one application and kind can be read, and who is told. However many there are, it is asked once for all. */
export class Topic {
  readonly subscribers = new Set<Subscriber>();
  private offset: string | undefined;
  private isAsking = false;

  constructor(private readonly askMax: () => Promise<Date>) {}

  /** Somebody new is told what is known; the first one, as soon as anything is. */
  add(subscriber: Subscriber): void {
    this.subscribers.add(subscriber);
    if (this.offset === undefined) void this.refresh();
    else subscriber.tell(this.offset);
  }

  /**
   * Tells all of them where it has moved. Where that cannot be known, nobody is told anything. It is not asked again before
   * the answer is there: the question may still be waiting for its turn, and each further one would wait behind it.
   */
  async refresh(): Promise<void> {
    if (this.isAsking) return;
    this.isAsking = true;
    const max = await this.askMax().catch(() => undefined);
    this.isAsking = false;
    this.offset = max?.toISOString() ?? this.offset;
    if (this.offset === undefined) return;
    for (const subscriber of this.subscribers) subscriber.tell(this.offset);
  }
}
