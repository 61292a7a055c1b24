import { setTimeout as wait } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { mongo } from 'mongoose';
import { ControlStream, type Follower } from '../../control/index.js';
import type { Tenant } from '../../record/index.js';
import { KnownProgress } from './known-progress.js';
import { progressOf, progressOfAll, type TotalProgress } from './progress.js';
import { LEASES } from './watch-state.schema.js';

const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 25;
const SLOWER = 1.3;

interface Awaited {
  at: mongo.Timestamp;
  /** Whose progress counts; nothing where it is that of every application. */
  tenant: Tenant | undefined;
}

interface Waiting extends Awaited {
  resolve: (isReached: boolean) => void;
}

/**
 * Tells when the watcher has come to a place in the log. The control stream tells it; while that does not, there is one look
 * for all who wait, and none while no caller waits.
 */
@Injectable()
export class WatchedPlace implements Follower {
  readonly collection = LEASES;
  readonly told = ['watched', 'aside'];
  private readonly waiting = new Set<Waiting>();
  private isLooking = false;

  constructor(
    control: ControlStream,
    private readonly known: KnownProgress,
  ) {
    control.follow(this);
  }

  /** What is known follows the stream as well, and was created before: so it has heard of the change already. */
  hear(): void {
    if (this.waiting.size > 0) this.resolveUpTo(this.known.peek());
  }

  forget(): void {}

  /** True when everything of an application up to a cluster time is worked through; false where `left` was aborted before. */
  reached(at: mongo.Timestamp, left: AbortSignal, tenant: Tenant): Promise<boolean> {
    return this.awaited({ at, tenant }, left);
  }

  /** The same of every application. */
  reachedByAll(at: mongo.Timestamp, left: AbortSignal): Promise<boolean> {
    return this.awaited({ at, tenant: undefined }, left);
  }

  private awaited(place: Awaited, left: AbortSignal): Promise<boolean> {
    if (left.aborted) return Promise.resolve(false);
    const state = this.known.peek();
    if (state !== undefined && isReached(place, state)) return Promise.resolve(true);
    return new Promise((resolve) => {
      const one = { ...place, resolve };
      this.waiting.add(one);
      left.addEventListener('abort', () => this.end(one, false), { once: true });
      if (!this.isLooking) void this.look();
    });
  }

  private async look(): Promise<void> {
    this.isLooking = true;
    for (let ms = FIRST_PAUSE_MS; this.waiting.size > 0; ms = Math.min(ms * SLOWER, LONGEST_PAUSE_MS)) {
      await wait(ms);
      this.resolveUpTo(this.known.peek() ?? (await this.known.find().catch(() => undefined)));
    }
    this.isLooking = false;
  }

  private resolveUpTo(state: TotalProgress | undefined): void {
    if (state === undefined) return;
    for (const one of this.waiting) if (isReached(one, state)) this.end(one, true);
  }

  private end(one: Waiting, isReached: boolean): void {
    this.waiting.delete(one);
    one.resolve(isReached);
  }
}

function isReached({ at, tenant }: Awaited, state: TotalProgress): boolean {
  const { watched } = tenant === undefined ? progressOfAll(state) : progressOf(state, tenant);
  return watched !== undefined && watched.compare(at) >= 0;
}
