import type { ServerResponse } from 'node:http';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { AsyncResource } from 'node:async_hooks';
import { setMaxListeners } from 'node:events';
import { isKindOf, type Kind } from '../../../kinds/index.js';
import { fewAtATime, Semaphore, settledWithin, within } from '../../../platform/common/index.js';
import { SETTINGS, type Settings } from '../../../platform/config/index.js';
import { problems } from '../../../platform/http/index.js';
import { Metrics } from '../../../platform/observability/index.js';
import { markName } from '../../protocol/index.js';
import { MaxService } from '../max.service.js';
import { ReadingRights, type StreamReader } from './reading-rights.js';

/** The maximum number of unread bytes, about 200 events. A client that leaves more unread is disconnected. */
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
  /**
   * `known` is the offset that the client has already; `turn` is the tick of each round of `ticksPerComment` at which
   * it receives a comment.
   */
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
class Audience {
  readonly subscribers = new Set<Subscriber>();

  constructor(private readonly checkAccess: () => Promise<boolean>) {}

  /** Ends the streams of all subscribers if access is revoked. If the check cannot be made, they stay open. */
  async check(): Promise<void> {
    const isAllowed = await this.checkAccess().catch(() => true);
    if (!isAllowed) for (const subscriber of this.subscribers) subscriber.end();
  }
}

/** How far one application and kind can be read, and its subscribers. One query serves all of them. */
export class Topic {
  readonly subscribers = new Set<Subscriber>();
  private offset: string | undefined;
  private isAsking = false;

  /** `isServed` returns whether the application still has the kind. */
  constructor(
    private readonly askMax: () => Promise<Date>,
    private readonly isServed: () => boolean = () => true,
  ) {}

  /** Adds a subscriber, and sends it the last offset. If there is none yet, it is queried first. */
  add(subscriber: Subscriber): void {
    this.subscribers.add(subscriber);
    if (this.offset === undefined) void this.refresh();
    else subscriber.send(this.offset);
  }

  /** Ends the streams of all subscribers if the kind was removed. */
  check(): void {
    if (!this.isServed()) for (const subscriber of this.subscribers) subscriber.end();
  }

  /**
   * Sends a new offset to all subscribers. If the query fails, the offset is unchanged. No second query starts while
   * one is running: the running query may be waiting for a free slot, and further queries would queue up after it.
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

/** The maximum number of subscribers; more are refused. A subscriber takes about 13 KB. */
const MOST_SUBSCRIBERS = 20_000;
/** The maximum number of streams of one credential, so that it cannot use up the streams of all others. */
const MOST_OF_CREDENTIAL = 1000;
/** The maximum number of concurrent queries for `max`, and of concurrent checks of logins. Further ones wait. */
const AT_A_TIME = 4;
/** A query for `max` that takes longer is abandoned, and its slot is free for the next one (milliseconds). */
const LONGEST_MS = 10_000;

interface Subscription extends StreamReader {
  kind: Kind;
  /** The last offset that the client received. */
  lastEventId: string | undefined;
}

/**
 * Notifies subscribers when the offset has changed (contract §1). One timer serves all of them. At each tick it queries
 * `max` once for each application and kind, which costs the database nothing if nothing has changed, and checks whether
 * the kind still exists and each login still has access.
 */
@Injectable()
export class EventStreams implements OnModuleDestroy {
  private readonly topics = new Map<string, Topic>();
  private readonly audiences = new Map<string, Audience>();
  private readonly subscribers = new Set<Subscriber>();
  private readonly ofCredential = new Map<string, number>();
  private readonly maxPlaces = new Semaphore(AT_A_TIME);
  private readonly mapsInWork = new Set<object>();
  private readonly over = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  private readonly ticksPerComment: number;
  private ticks = 0;
  /** The checks serve all streams, so they do not belong to the trace of the request that started the timer. */
  private readonly tickApart = AsyncResource.bind(() => this.tick());

  constructor(
    private readonly max: MaxService,
    private readonly rights: ReadingRights,
    private readonly metrics: Metrics,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {
    this.ticksPerComment = Math.max(1, Math.floor(settings.eventsCommentMs / settings.eventsCheckMs));
    setMaxListeners(Infinity, this.over.signal);
  }

  onModuleDestroy(): void {
    this.end();
  }

  /**
   * Answers with a stream. It ends when the client disconnects, its access is revoked, its kind is removed, or the
   * service stops. Throws 503 `busy`, 429 `streams-busy`.
   */
  open(response: ServerResponse, subscription: Subscription): void {
    if (this.subscribers.size >= MOST_SUBSCRIBERS) throw problems.busy();
    const others = this.ofCredential.get(subscription.username) ?? 0;
    if (others >= MOST_OF_CREDENTIAL) throw problems.streamsBusy(MOST_OF_CREDENTIAL);
    const turn = this.ticks % this.ticksPerComment;
    const subscriber = new Subscriber(response, subscription.lastEventId, turn);
    subscriber.begin();
    if (response.req.method === 'HEAD') response.end();
    else if (this.over.signal.aborted) subscriber.end();
    else if (!response.destroyed) this.add(response, subscriber, subscription);
  }

  /** Ends all streams at once without waiting for them. A stream that is opened later ends immediately. */
  end(): void {
    this.over.abort(new Error('The event stream has ended.'));
    clearInterval(this.timer);
    for (const subscriber of this.subscribers) subscriber.end();
    for (const groups of [this.topics, this.audiences]) groups.clear();
  }

  private add(response: ServerResponse, subscriber: Subscriber, subscription: Subscription): void {
    const { kind, username, passwordhash } = subscription;
    const { organizationid, appid } = subscription.tenant;
    const topicName = markName({ organizationid, appid, kind });
    const audienceName = JSON.stringify([username, passwordhash, organizationid, appid]);
    const topic = this.topics.get(topicName) ?? this.topicOf(subscription);
    const audience = this.audiences.get(audienceName) ?? this.audienceOf(subscription);
    this.topics.set(topicName, topic);
    this.audiences.set(audienceName, audience);
    response.once('close', () => {
      leave(this.topics, topicName, subscriber);
      leave(this.audiences, audienceName, subscriber);
      this.subscribers.delete(subscriber);
      this.countOf(username, -1);
      this.counted();
    });
    this.subscribers.add(subscriber);
    this.countOf(username, 1);
    audience.subscribers.add(subscriber);
    topic.add(subscriber);
    this.counted();
  }

  private topicOf({ tenant: { organizationid, appid }, kind }: Subscription): Topic {
    const application = { organizationid, appid };
    const ask = () => within(LONGEST_MS, 'max', this.max.max(application, kind));
    return new Topic(
      () => this.maxPlaces.during(this.over.signal, ask),
      () => isKindOf(kind, application),
    );
  }

  private audienceOf(reader: StreamReader): Audience {
    return new Audience(async () => (await this.rights.applicationOf(reader)) !== null);
  }

  private countOf(username: string, more: number): void {
    const count = (this.ofCredential.get(username) ?? 0) + more;
    if (count === 0) this.ofCredential.delete(username);
    else this.ofCredential.set(username, count);
  }

  /** Runs the timer only while there are subscribers. */
  private counted(): void {
    this.metrics.eventSubscribers.set(this.subscribers.size);
    if (this.subscribers.size === 0) {
      clearInterval(this.timer);
      this.timer = undefined;
    } else if (!this.over.signal.aborted)
      this.timer ??= setInterval(this.tickApart, this.settings.eventsCheckMs).unref();
  }

  private tick(): void {
    this.ticks += 1;
    for (const topic of this.topics.values()) topic.check();
    void this.round(this.audiences, (audience) => audience.check());
    // A query that takes longer than a tick does not delay the events of other applications.
    const refreshed = (topic: Topic) => topic.refresh().then(() => true);
    void this.round(this.topics, (topic) => settledWithin(refreshed(topic), this.settings.eventsCheckMs));
    const turn = this.ticks % this.ticksPerComment;
    for (const subscriber of this.subscribers) if (subscriber.turn === turn) subscriber.comment();
  }

  /** Works through a map, unless an earlier tick still does. */
  private async round<T>(all: Map<string, T>, work: (one: T) => Promise<unknown>): Promise<void> {
    if (this.mapsInWork.has(all)) return;
    this.mapsInWork.add(all);
    await fewAtATime(AT_A_TIME, all.values(), work);
    this.mapsInWork.delete(all);
  }
}

function leave(
  groups: Map<string, { subscribers: Set<Subscriber> }>,
  name: string,
  subscriber: Subscriber,
): void {
  const { subscribers } = groups.get(name) ?? { subscribers: new Set() };
  subscribers.delete(subscriber);
  if (subscribers.size === 0) groups.delete(name);
}
