import { setTimeout as wait } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { isObjectId, RecordsHeldError } from '../../record/index.js';
import type { WatchedEvent } from '../log/index.js';
import type { Fences } from '../mark/index.js';
import type { TermAtWork } from '../progress/index.js';
import { Quarantine } from '../quarantine/index.js';
import { Effects } from './effects/effects.js';
import { mayPass } from './may-pass.js';
import { pass } from './rules/decide.js';
import { Tenants } from './effects/tenants.js';

const ATTEMPTS = 3;
const BETWEEN_ATTEMPTS_MS = 50;
/** Failing events to isolate by bisection: of one application, and in all. Beyond that, events are set aside together. */
const MOST_ALONE = { ofApplication: 5, inAll: 30 };

/** What consecutive batches with failing events have shown. */
class Trouble {
  private readonly alone = new Map<string, number>();
  private count = 0;

  /** Whether anything has failed. */
  isMet = false;

  /** Whether an event was set aside before. */
  get isKnown(): boolean {
    return this.count > 0;
  }

  add(tenant: string): void {
    this.alone.set(tenant, (this.alone.get(tenant) ?? 0) + 1);
    this.count += 1;
  }

  /** Whether enough failing events were isolated. */
  isEnough(tenant: string): boolean {
    const ofTenant = this.alone.get(tenant) ?? 0;
    return ofTenant >= MOST_ALONE.ofApplication || this.count >= MOST_ALONE.inAll;
  }
}

/**
 * Processes batches so that no single event can stop the stream. A batch that fails although the database answers is halved,
 * in order, until the failing event is alone; it is tried three times and set aside. If many events fail, the remaining events
 * of the same application in the failing part are set aside with them, so that other applications do not wait; those that are
 * in order are processed a moment later.
 */
@Injectable()
export class Batches {
  private trouble = new Trouble();

  constructor(
    private readonly effects: Effects,
    private readonly quarantine: Quarantine,
    private readonly tenants: Tenants,
  ) {}

  /** The fences are those passed before the events; they are brought up to date. Throws where the database is away. */
  async workThrough(events: WatchedEvent[], fences: Fences, term: TermAtWork): Promise<void> {
    this.trouble.isMet = false;
    await this.some(events, fences, term);
    if (!this.trouble.isMet) this.trouble = new Trouble();
  }

  private async some(events: WatchedEvent[], fences: Fences, term: TermAtWork): Promise<void> {
    term.showLife();
    const left = await this.quarantine.withoutFollowing(events);
    if (left.length === 0) return;
    try {
      await this.bringAbout(left, fences, term);
    } catch (error) {
      if (mayPass(error)) throw error;
      const others = await this.othersThan(left, error);
      if (others.length < left.length) await this.some(others, fences, term);
      else if (left.length > 1) await this.halve(left, fences, term);
      else await this.alone(left[0]!, fences, term, error);
    }
  }

  /** Sets aside events that are known to fail, and returns the others. */
  private async othersThan(events: WatchedEvent[], error: unknown): Promise<WatchedEvent[]> {
    if (error instanceof RecordsHeldError) return this.besideHeld(events, error);
    this.trouble.isMet = true;
    return this.trouble.isKnown ? this.withoutMany(events, error) : events;
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

  private async halve(events: WatchedEvent[], fences: Fences, term: TermAtWork): Promise<void> {
    const half = Math.ceil(events.length / 2);
    await this.some(events.slice(0, half), fences, term);
    await this.some(events.slice(half), fences, term);
  }

  /** Sets aside the events of each application with enough failed events, and returns the others. */
  private async withoutMany(events: WatchedEvent[], error: unknown): Promise<WatchedEvent[]> {
    const tenants = await this.tenants.of(events);
    const isBeyond = (event: WatchedEvent) => {
      const tenant = tenants.get(event);
      return tenant !== undefined && this.trouble.isEnough(tenant);
    };
    const beyond = events.filter(isBeyond);
    if (beyond.length > 0) await this.quarantine.setAsideEvents(beyond, error);
    return events.filter((event) => !isBeyond(event));
  }

  private async alone(
    event: WatchedEvent,
    fences: Fences,
    term: TermAtWork,
    failure: unknown,
  ): Promise<void> {
    let reason = failure;
    for (let attempt = this.trouble.isKnown ? ATTEMPTS : 1; attempt < ATTEMPTS; attempt += 1) {
      await wait(BETWEEN_ATTEMPTS_MS);
      try {
        return await this.bringAbout([event], fences, term);
      } catch (error) {
        if (mayPass(error)) throw error;
        reason = error;
      }
    }
    this.trouble.add((await this.tenants.of([event])).get(event) ?? '');
    await this.quarantine.setAsideEvents([event], reason);
    // An announcement without its moment still moves the fence; otherwise late stamps after it would be accepted.
    if (event.type === 'announced') pass(event, fences, fences);
  }

  /** A failure leaves the fences unchanged. */
  private async bringAbout(events: WatchedEvent[], fences: Fences, term: TermAtWork): Promise<void> {
    for (const [name, fence] of await this.effects.bringAbout(events, fences, term)) fences.set(name, fence);
  }
}
