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

const ATTEMPTS = 3;
const BETWEEN_ATTEMPTS_MS = 50;

/**
 * Works through batches so that no single event can stop the stream. A batch that fails although the database answers
 * is halved, in order, until the event that fails is alone; one that fails three times is set aside.
 */
@Injectable()
export class Batches {
  constructor(
    private readonly effects: Effects,
    private readonly quarantine: Quarantine,
  ) {}

  /** The fences are those passed before the events; they are brought up to date. Throws where the database is away. */
  async workThrough(events: WatchedEvent[], fences: Fences, term: TermAtWork): Promise<void> {
    term.showLife();
    try {
      await this.bringAbout(events, fences, term);
    } catch (error) {
      if (mayPass(error)) throw error;
      const others = error instanceof RecordsHeldError ? await this.besideHeld(events, error) : events;
      if (others.length < events.length) await this.workThrough(others, fences, term);
      else if (events.length > 1) await this.halve(events, fences, term);
      else await this.alone(events[0]!, fences, term, error);
    }
  }

  /** Sets aside what concerns records that another program's transaction holds, and answers the other events. */
  private async besideHeld(events: WatchedEvent[], error: RecordsHeldError): Promise<WatchedEvent[]> {
    const held = new Set(error.ids.map((id) => id.toHexString()));
    const others: WatchedEvent[] = [];
    for (const event of events) {
      const isOfRecord = event.type === 'written' || event.type === 'deleted';
      if (isOfRecord && isObjectId(event.owner) && held.has(event.owner.toHexString()))
        await this.quarantine.setAsideEvent(event, error);
      else others.push(event);
    }
    return others;
  }

  private async halve(events: WatchedEvent[], fences: Fences, term: TermAtWork): Promise<void> {
    const half = Math.ceil(events.length / 2);
    await this.workThrough(events.slice(0, half), fences, term);
    await this.workThrough(events.slice(half), fences, term);
  }

  private async alone(
    event: WatchedEvent,
    fences: Fences,
    term: TermAtWork,
    failure: unknown,
  ): Promise<void> {
    let reason = failure;
    for (let attempt = 1; attempt < ATTEMPTS; attempt += 1) {
      await wait(BETWEEN_ATTEMPTS_MS);
      try {
        return await this.bringAbout([event], fences, term);
      } catch (error) {
        if (mayPass(error)) throw error;
        reason = error;
      }
    }
    await this.quarantine.setAsideEvent(event, reason);
    // An announcement without its moment still moves the fence, else late stamps behind it would be taken for good.
    if (event.type === 'announced') pass(event, fences, fences);
  }

  /** What fails leaves the fences as they were. */
  private async bringAbout(events: WatchedEvent[], fences: Fences, term: TermAtWork): Promise<void> {
    for (const [name, fence] of await this.effects.bringAbout(events, fences, term)) fences.set(name, fence);
  }
}
