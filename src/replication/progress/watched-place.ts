import { setTimeout as wait } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import mongoose, { type Model, type mongo } from 'mongoose';
import { within } from '../../common/index.js';
import { type ControlChange, ControlStream, type Follower } from '../../control/index.js';
import { WATCHER, type WatchState } from './watch-state.js';
import { LEASES, WATCH_STATE_MODEL } from './watch-state.schema.js';

const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 25;
const SLOWER = 1.3;
const LOOK_MS = 1000;

interface Waiting {
  at: mongo.Timestamp;
  resolve: (isReached: boolean) => void;
}

/**
 * Tells when the watcher has come to a place in the log. The control stream tells it; while that does not, there is one look
 * for all who wait, and none where nobody does.
 */
@Injectable()
export class WatchedPlace implements Follower {
  readonly collection = LEASES;
  readonly told = ['watched'];
  private readonly waiting = new Set<Waiting>();
  private isLooking = false;
  private heard: mongo.Timestamp | undefined;

  constructor(
    @InjectModel(WATCH_STATE_MODEL) private readonly states: Model<WatchState>,
    private readonly control: ControlStream,
  ) {
    control.follow(this);
  }

  hear({ id, fields }: ControlChange): void {
    const watched = placeIn(fields);
    if (id !== WATCHER || watched === undefined) return;
    this.heard = watched;
    this.resolveUpTo(watched);
  }

  forget(): void {
    this.heard = undefined;
  }

  /** True when everything up to a cluster time is worked through; false where `left` was aborted before. */
  reached(at: mongo.Timestamp, left: AbortSignal): Promise<boolean> {
    if (left.aborted) return Promise.resolve(false);
    if (this.heard !== undefined && this.heard.compare(at) >= 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const one = { at, resolve };
      this.waiting.add(one);
      left.addEventListener('abort', () => this.end(one, false), { once: true });
      if (!this.isLooking) void this.look();
    });
  }

  private async look(): Promise<void> {
    this.isLooking = true;
    for (let ms = FIRST_PAUSE_MS; this.waiting.size > 0; ms = Math.min(ms * SLOWER, LONGEST_PAUSE_MS)) {
      await wait(ms);
      if (this.heard !== undefined && this.control.isCurrent) continue;
      const watched = await within(LOOK_MS, 'A look at the watcher', this.watched()).catch(() => undefined);
      if (watched !== undefined) this.resolveUpTo(watched);
    }
    this.isLooking = false;
  }

  private resolveUpTo(watched: mongo.Timestamp): void {
    for (const one of this.waiting) if (watched.compare(one.at) >= 0) this.end(one, true);
  }

  private end(one: Waiting, isReached: boolean): void {
    this.waiting.delete(one);
    one.resolve(isReached);
  }

  private async watched(): Promise<mongo.Timestamp | undefined> {
    return placeIn(await this.states.findOne({ _id: WATCHER }, { watched: 1 }).lean());
  }
}

/** Whatever else somebody has stored in place of a cluster time tells nothing. */
function placeIn(state: mongo.Document | null): mongo.Timestamp | undefined {
  const watched: unknown = state?.['watched'];
  return watched instanceof mongoose.mongo.Timestamp ? watched : undefined;
}
