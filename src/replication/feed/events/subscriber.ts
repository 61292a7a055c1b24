import type { ServerResponse } from 'node:http';

/** What a client has not taken yet (bytes): some hundred events. One that takes nothing for so long is let go. */
const MOST_UNTAKEN = 16 * 1024;
/** Streams that end together do not come back all at once (milliseconds). */
const LEAST_RETRY_MS = 1000;
const MORE_RETRY_MS = 4000;
/** So long a stream that has ended waits for its client (milliseconds). */
const LINGER_MS = 1000;

const HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'private, no-cache, no-transform',
  'X-Accel-Buffering': 'no',
};
const COMMENT = ':\n\n';

/** A client that reads events: server-sent events on its answer. */
export class Subscriber {
  /** With the offset that the client knows already, and its turn among those who get comments. */
  constructor(
    private readonly response: ServerResponse,
    private known: string | undefined,
    readonly turn: number,
  ) {}

  /** The headers go out at once, with a comment, so that the client sees that its stream has begun. */
  begin(): void {
    for (const [name, value] of Object.entries(HEADERS)) this.response.setHeader(name, value);
    this.comment();
  }

  /** Tells how far it can be read now, unless the client knows it. */
  tell(offset: string): void {
    if (offset === this.known) return;
    this.known = offset;
    this.write(`event: max\nid: ${offset}\ndata: ${offset}\n\n`);
  }

  comment(): void {
    this.write(COMMENT);
  }

  /** Ends the stream, with a hint when to come back. A client that does not take it is let go. */
  end(): void {
    if (this.response.writableEnded) return;
    const late = setTimeout(() => this.response.destroy(), LINGER_MS).unref();
    this.response.once('close', () => clearTimeout(late));
    this.response.end(`retry: ${Math.round(LEAST_RETRY_MS + Math.random() * MORE_RETRY_MS)}\n\n`);
  }

  private write(text: string): void {
    if (this.response.writableEnded) return;
    if (this.response.writableLength > MOST_UNTAKEN) this.response.destroy();
    else this.response.write(text);
  }
}

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
