import { Injectable } from '@nestjs/common';
import { setTimeout as wait } from 'node:timers/promises';
import { isObjectId, RecordsHeldError } from '../../record/index.js';
import { type Kind, kindNames } from '../../kinds/index.js';
import { Tracing } from '../../platform/observability/index.js';
import { IncompleteIdentities, Ledger, type TermAtWork, Quarantine } from '../store/index.js';
import {
  addToCount,
  type DeletedEvent,
  type WatchedEvent,
  type WrittenEvent,
  type Fences,
  isIn,
  pass,
  type EventsByTenant,
} from '../protocol/index.js';
import { Effects } from './effects/effects.js';
import { isUnspecific } from './effects/decision-writer.js';

type RecordEvent = WrittenEvent | DeletedEvent;

/** Resolves events to the applications of their records. */
@Injectable()
export class Tenants {
  constructor(
    private readonly ledger: Ledger,
    private readonly incomplete: IncompleteIdentities,
  ) {}

  /**
   * Maps each event of a record to a key of its application. The event names the application; otherwise, the stored
   * identity of the record does. The key is `''` if neither is known. Every tombstone is mapped to `''`.
   */
  async of(events: WatchedEvent[]): Promise<Map<WatchedEvent, string>> {
    const named = new Map<WatchedEvent, string>();
    for (const event of events) if (event.type === 'tombstone') named.set(event, '');
    for (const kind of kindNames()) {
      const ofKind = events.filter(
        (event): event is RecordEvent =>
          (event.type === 'written' || event.type === 'deleted') && event.kind === kind,
      );
      const known = await this.known(kind, ofKind);
      for (const event of ofKind) named.set(event, nameIn(event) ?? known.get(String(event.owner)) ?? '');
    }
    return named;
  }

  private async known(kind: Kind, events: RecordEvent[]): Promise<Map<string, string>> {
    const unnamed = events.filter((event) => nameIn(event) === undefined);
    const owners = unnamed.map(({ owner }) => owner).filter((owner) => isObjectId(owner));
    const partials = await this.incomplete.among(kind, owners);
    const owned = await this.ledger.ownedBy(kind, owners);
    return new Map([
      ...[...partials].map(([owner, partial]) => [owner, tenantKey(partial)] as const),
      ...owned.map((entry) => [String(entry.owner), tenantKey(entry)] as const),
    ]);
  }
}

function nameIn(event: RecordEvent): string | undefined {
  if (event.type === 'deleted') return undefined;
  const { organizationid, appid } = event.identity;
  return organizationid === undefined || appid === undefined
    ? undefined
    : tenantKey({ organizationid, appid });
}

function tenantKey({ organizationid, appid }: { organizationid?: unknown; appid?: unknown }): string {
  return JSON.stringify([organizationid, appid]);
}

const ATTEMPTS = 3;
const BETWEEN_ATTEMPTS_MS = 50;
/** Maximum number of failing events that are isolated by halving. After that, events are set aside together. */
const MOST_ALONE = { ofApplication: 5, inAll: 30 };

/** Failures counted over consecutive batches that contained any. */
class Trouble {
  private readonly alone = new Map<string, number>();
  private count = 0;

  /** Whether the current batch has failed because of its events, not because of held records. */
  isMet = false;

  /** Whether an isolated event was set aside. */
  get isKnown(): boolean {
    return this.count > 0;
  }

  add(tenant: string): void {
    this.alone.set(tenant, (this.alone.get(tenant) ?? 0) + 1);
    this.count += 1;
  }

  /** Whether further events of this application are set aside together, without isolating the failing ones. */
  isEnough(tenant: string): boolean {
    const ofTenant = this.alone.get(tenant) ?? 0;
    return ofTenant >= MOST_ALONE.ofApplication || this.count >= MOST_ALONE.inAll;
  }
}

/** The state of one loop while it processes a batch. */
interface Loop {
  fences: Fences;
  term: TermAtWork;
  trouble: Trouble;
  counts: EventsByTenant;
}

/**
 * Processes batches so that no single event can stop the stream. If a batch fails although the database answers, it is
 * halved, in order, until the failing event is isolated. The first such event is tried three times and then set aside;
 * further ones, in this batch and in the next ones as long as each fails, are set aside at once. If many events of an
 * application fail, its remaining events in the failing part are set aside together, and those of every application if
 * many fail in all, so that the stream does not wait. Events of records that another program's transaction holds are
 * set aside without a search. All are retried shortly afterwards; the valid ones among them then succeed.
 */
@Injectable()
export class Batches {
  /** One per loop, keyed by the loop's fences. */
  private readonly troubles = new WeakMap<Fences, Trouble>();

  constructor(
    private readonly effects: Effects,
    private readonly quarantine: Quarantine,
    private readonly tenants: Tenants,
    private readonly tracing: Tracing,
  ) {}

  /**
   * `fences` holds the fences passed before these events, and is updated in place. Returns the number of events per
   * application. Throws if the database is unavailable, the term is over, or history is lost.
   */
  workThrough(events: WatchedEvent[], fences: Fences, term: TermAtWork): Promise<EventsByTenant> {
    const work = () => this.counted(events, fences, term);
    if (events.length === 0) return work();
    return this.tracing.work(
      'watcher batch',
      { 'tidemark.batch.events': events.length },
      work,
      ({ size }) => ({
        'tidemark.batch.applications': size,
      }),
    );
  }

  private async counted(events: WatchedEvent[], fences: Fences, term: TermAtWork): Promise<EventsByTenant> {
    const trouble = this.troubles.get(fences) ?? new Trouble();
    trouble.isMet = false;
    const counts: EventsByTenant = new Map();
    await this.some(events, { fences, term, trouble, counts });
    this.troubles.set(fences, trouble.isMet ? trouble : new Trouble());
    return counts;
  }

  private async some(events: WatchedEvent[], loop: Loop): Promise<void> {
    loop.term.showLife();
    const left = await this.quarantine.withoutFollowing(events);
    if (left.length === 0) return;
    try {
      await this.applyEffects(left, loop);
    } catch (error) {
      if (isUnspecific(error)) throw error;
      const others = await this.othersThan(left, error, loop);
      if (others.length < left.length) await this.some(others, loop);
      else if (left.length > 1) await this.halve(left, loop);
      else await this.alone(left[0]!, loop, error);
    }
  }

  /** Sets aside events that are known to fail, and returns the others. */
  private async othersThan(
    events: WatchedEvent[],
    error: unknown,
    { trouble }: Loop,
  ): Promise<WatchedEvent[]> {
    if (error instanceof RecordsHeldError) return this.besideHeld(events, error);
    trouble.isMet = true;
    return trouble.isKnown ? this.withoutMany(events, error, trouble) : events;
  }

  /** Sets aside events of records that another program's transaction holds, and returns the others. */
  private async besideHeld(events: WatchedEvent[], error: RecordsHeldError): Promise<WatchedEvent[]> {
    const held = new Set(error.ids.map((id) => id.toHexString()));
    const isHeld = (event: WatchedEvent) =>
      (event.type === 'written' || event.type === 'deleted') &&
      isObjectId(event.owner) &&
      held.has(event.owner.toHexString());
    const concerned = events.filter(isHeld);
    if (concerned.length > 0) await this.quarantine.setAsideEvents(concerned, error);
    return events.filter((event) => !isHeld(event));
  }

  private async halve(events: WatchedEvent[], loop: Loop): Promise<void> {
    const half = Math.ceil(events.length / 2);
    await this.some(events.slice(0, half), loop);
    await this.some(events.slice(half), loop);
  }

  /** Sets aside the events of each application with enough failed events, and returns the others. */
  private async withoutMany(
    events: WatchedEvent[],
    error: unknown,
    trouble: Trouble,
  ): Promise<WatchedEvent[]> {
    const tenants = await this.tenants.of(events);
    const isBeyond = (event: WatchedEvent) => {
      const tenant = tenants.get(event);
      return tenant !== undefined && trouble.isEnough(tenant);
    };
    const beyond = events.filter(isBeyond);
    if (beyond.length > 0) await this.quarantine.setAsideEvents(beyond, error);
    return events.filter((event) => !isBeyond(event));
  }

  private async alone(event: WatchedEvent, loop: Loop, failure: unknown): Promise<void> {
    const { trouble, fences } = loop;
    let reason = failure;
    for (let attempt = trouble.isKnown ? ATTEMPTS : 1; attempt < ATTEMPTS; attempt += 1) {
      await wait(BETWEEN_ATTEMPTS_MS);
      try {
        return await this.applyEffects([event], loop);
      } catch (error) {
        if (isUnspecific(error)) throw error;
        reason = error;
      }
    }
    trouble.add((await this.tenants.of([event])).get(event) ?? '');
    await this.quarantine.setAsideEvents([event], reason);
    // An announcement that is set aside leaves no moment, but moves the fence: late stamps must not be accepted.
    if (event.type === 'announced' && isIn(loop.term.share, event.mark)) pass(event, fences, fences);
  }

  /** A failure leaves the fences and the counts unchanged. */
  private async applyEffects(events: WatchedEvent[], { fences, term, counts }: Loop): Promise<void> {
    const counted: EventsByTenant = new Map();
    const passed = await this.effects.apply(events, fences, term, counted);
    for (const one of counted.values()) addToCount(counts, one);
    for (const [name, fence] of passed) fences.set(name, fence);
  }
}
