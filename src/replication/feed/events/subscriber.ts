import type { ServerResponse } from 'node:http';

/** Bytes that a client may leave unread: some hundred events. A client with more is disconnected. */
const MOST_UNTAKEN = 16 * 1024;
/** Spreads the reconnects of streams that end together (milliseconds). */
const LEAST_RETRY_MS = 1000;
const MORE_RETRY_MS = 4000;
/** How long an ended stream waits for its client (milliseconds). */
const LINGER_MS = 1000;

const HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'private, no-cache, no-transform',
  'X-Accel-Buffering': 'no',
};
const COMMENT = ':\n\n';

/** A client that receives server-sent events. */
export class Subscriber {
  /** `known` is the offset that the client has already; `turn` is the check at which it receives comments. */
  constructor(
    private readonly response: ServerResponse,
    private known: string | undefined,
    readonly turn: number,
  ) {}

  /** Sends the headers at once, with a comment, so that the client sees that its stream has begun. */
  begin(): void {
    for (const [name, value] of Object.entries(HEADERS)) this.response.setHeader(name, value);
    this.comment();
  }

  /** Sends the offset up to which it is safe to read, unless the client has it already. */
  send(offset: string): void {
    if (offset === this.known) return;
    this.known = offset;
    this.write(`event: max\nid: ${offset}\ndata: ${offset}\n\n`);
  }

  comment(): void {
    this.write(COMMENT);
  }

  /** Ends the stream with a hint when to reconnect. A client that does not read it is disconnected. */
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

/** Subscribers with the same access: the same login, for the same application. One check serves all of them. */
export class Audience {
  readonly subscribers = new Set<Subscriber>();
  private isChecking = false;

  constructor(private readonly checkAccess: () => Promise<boolean>) {}

  /** Ends their streams if access is revoked. If the check fails, they stay open. */
  async check(): Promise<void> {
    if (this.isChecking) return;
    this.isChecking = true;
    const isAllowed = await this.checkAccess().catch(() => true);
    this.isChecking = false;
    if (!isAllowed) for (const subscriber of this.subscribers) subscriber.end();
  }
}

/** How far one application and kind can be read, and its subscribers. One query serves all of them. */
export class Topic {
  readonly subscribers = new Set<Subscriber>();
  private offset: string | undefined;
  private isAsking = false;

  constructor(private readonly askMax: () => Promise<Date>) {}

  /** Sends the known offset to a new subscriber. The first subscriber receives it once it is known. */
  add(subscriber: Subscriber): void {
    this.subscribers.add(subscriber);
    if (this.offset === undefined) void this.refresh();
    else subscriber.send(this.offset);
  }

  /**
   * Sends a new offset to all subscribers. If the query fails, the offset is unchanged. No second query starts while one is
   * running: it may be waiting for a place, and further ones would queue after it.
   */
  async refresh(): Promise<void> {
    if (this.isAsking) return;
    this.isAsking = true;
    const max = await this.askMax().catch(() => undefined);
    this.isAsking = false;
    this.offset = max?.toISOString() ?? this.offset;
    if (this.offset === undefined) return;
    for (const subscriber of this.subscribers) subscriber.send(this.offset);
  }
}
