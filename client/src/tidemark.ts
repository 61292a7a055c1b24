import { Channel } from './channel.js';
import { type DigestOptions, digestOf } from './digest.js';
import { type EventsOptions, eventsOf } from './events/events.js';
import { type ChangesOptions, changesFeed } from './feed/changes.js';
import type { Feed } from './feed/feed.js';
import { type FeedWindow, seedFeed } from './feed/seed.js';
import { Sender } from './http/sender.js';
import { Max } from './max.js';
import { Members } from './members.js';
import type { CallOptions, TidemarkOptions } from './options.js';
import { Schemas, type ServiceSchema } from './schema.js';
import type {
  ChangeItem,
  ChangesPage,
  DeleteItem,
  ServiceDigest,
  Kind,
  SafeOffset,
  Page,
  UpdateItem,
} from './shapes.js';

/**
 * One application, as one credential sees it. Every call throws `ProblemError` where the answer is no success,
 * `ConnectionError` where none came, and the reason of its `signal` where that was aborted. What may be repeated is repeated
 * first, as `retries` say.
 */
export class Tidemark {
  /** Members, one by one. */
  readonly member: Members;
  private readonly sender: Sender;
  private readonly marks: Max;
  private readonly schemas: Schemas;

  /** Throws a TypeError that names the option that is not right. */
  constructor(options: TidemarkOptions) {
    this.sender = new Sender(options);
    this.marks = new Max(this.sender);
    this.schemas = new Schemas(this.sender);
    this.member = new Members(this.sender);
  }

  /** How far it is safe to read: the greatest timestamp of the kind. */
  max(kind: Kind, options: CallOptions = {}): Promise<SafeOffset> {
    return this.marks.of(kind, options);
  }

  /** Tells when `max` may have moved, on and on. */
  events(kind: Kind, options: EventsOptions = {}): AsyncIterable<SafeOffset> {
    return eventsOf(this.sender, kind, options);
  }

  /** All that changed, deletes among it, in one feed, to the end of a window. */
  changes(kind: Kind, service: string, options: ChangesOptions = {}): Feed<ChangeItem, ChangesPage> {
    return changesFeed(this.sender, [kind, service, 'changes'], options);
  }

  /** The records that match the service's filter. */
  updates(kind: Kind, service: string, window: FeedWindow = {}): Feed<UpdateItem, Page<UpdateItem>> {
    return seedFeed(this.sender, [kind, service, 'updates'], window);
  }

  /** The records that do not match it. */
  softdeletes(kind: Kind, service: string, window: FeedWindow = {}): Feed<DeleteItem, Page<DeleteItem>> {
    return seedFeed(this.sender, [kind, service, 'softdeletes'], window);
  }

  /** The records that are gone. */
  harddeletes(kind: Kind, window: FeedWindow = {}): Feed<DeleteItem, Page<DeleteItem>> {
    return seedFeed(this.sender, [kind, 'harddeletes'], window);
  }

  /** The products of a channel. */
  channel(name: string): Channel {
    return new Channel(this.sender, name);
  }

  /** The sums over the records of a service, to compare a copy with them. */
  digest(kind: Kind, service: string, options: DigestOptions): Promise<ServiceDigest> {
    return digestOf(this.sender, [kind, service], options);
  }

  /** A JSON Schema of the items that `updates` of a service delivers: what was seen in a sample of them, and no promise. */
  schema(kind: Kind, service: string, options: CallOptions = {}): Promise<ServiceSchema> {
    return this.schemas.of(kind, service, options);
  }
}
