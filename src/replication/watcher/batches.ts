import { setTimeout as wait } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { isDatabaseAway, isRetryable } from '../../database/index.js';
import type { WatchedEvent } from '../log/index.js';
import { type Fences, markName } from '../mark/index.js';
import { showLife, TermOverError } from '../progress/index.js';
import { Quarantine } from '../quarantine/index.js';
import { Effects } from './effects.js';

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
  async workThrough(events: WatchedEvent[], fences: Fences): Promise<void> {
    const before = passedBefore(events, fences);
    showLife();
    try {
      await this.effects.bringAbout(events, fences);
    } catch (error) {
      if (mayPass(error)) throw error;
      restore(fences, before);
      if (events.length > 1) await this.halve(events, fences);
      else await this.alone(events[0]!, fences, error);
    }
  }

  private async halve(events: WatchedEvent[], fences: Fences): Promise<void> {
    const half = Math.ceil(events.length / 2);
    await this.workThrough(events.slice(0, half), fences);
    await this.workThrough(events.slice(half), fences);
  }

  private async alone(event: WatchedEvent, fences: Fences, failure: unknown): Promise<void> {
    let reason = failure;
    for (let attempt = 1; attempt < ATTEMPTS; attempt += 1) {
      await wait(BETWEEN_ATTEMPTS_MS);
      const before = passedBefore([event], fences);
      try {
        return await this.effects.bringAbout([event], fences);
      } catch (error) {
        if (mayPass(error)) throw error;
        restore(fences, before);
        reason = error;
      }
    }
    await this.quarantine.setAsideEvent(event, reason);
    pass(event, fences);
  }
}

/** What has nothing to do with the events: the database is away, or the term is over. */
function mayPass(error: unknown): boolean {
  return isDatabaseAway(error) || isRetryable(error) || error instanceof TermOverError;
}

/** Only announcements move fences: those of all other applications need not be kept. */
function passedBefore(events: WatchedEvent[], fences: Fences): Map<string, Date | undefined> {
  const names = events.flatMap((event) => (event.type === 'announced' ? [markName(event.mark)] : []));
  return new Map(names.map((name) => [name, fences.get(name)]));
}

function restore(fences: Fences, before: Map<string, Date | undefined>): void {
  for (const [name, fence] of before) {
    if (fence === undefined) fences.delete(name);
    else fences.set(name, fence);
  }
}

/** An announcement without its moment still moves the fence, else late stamps behind it would be taken for good. */
function pass(event: WatchedEvent, fences: Fences): void {
  if (event.type !== 'announced') return;
  const name = markName(event.mark);
  const passed = fences.get(name);
  if (passed === undefined || event.fence > passed) fences.set(name, event.fence);
}
