import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import { pause } from '../../platform/common/index.js';
import { bareCommand, COMMAND_MS, placedReply } from '../../platform/database/index.js';
import { type AppShare, isIn } from '../protocol/index.js';
import { ProgressReader } from './progress-reader.js';

const LOOK_MS = 100;
/** How long the lanes of applications that are aside have to reach what the main loop has reached (milliseconds). */
const LONGEST_WAIT_MS = 5000;

/** The current time of the database. */
export interface Now {
  /** Everything written so far is at or before it. */
  at: mongo.Timestamp;
  /** The database's clock. */
  clock: Date;
}

/**
 * Lets the leader's background jobs wait for the watcher's progress. An application that is far behind, or over which a pass
 * is running, is left out instead of being waited for, so that it delays no other (design §10).
 */
@Injectable()
export class WorkedThrough {
  private readonly longestWaitMs = LONGEST_WAIT_MS;

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly progress: ProgressReader,
  ) {}

  /** Throws a DeadlineError if the server does not reply in time. */
  async now(): Promise<Now> {
    const hello = () => bareCommand(this.connection.db!, { hello: 1 }, { within: COMMAND_MS });
    const { at, reply } = await placedReply('now', hello, { within: COMMAND_MS });
    const { localTime } = reply;
    return { at, clock: localTime instanceof Date ? localTime : new Date(at.getHighBitsUnsigned() * 1000) };
  }

  /**
   * Waits until the main loop has processed everything up to a cluster time, and some seconds more for the lanes. Returns
   * the applications that are processed up to it by then, without those over which a pass has ended after it. Undefined if
   * `stop` is aborted first, or if a pass over everything has ended after it.
   */
  async upTo(at: mongo.Timestamp, stop: AbortSignal): Promise<AppShare | undefined> {
    let until: number | undefined;
    while (!stop.aborted) {
      const late = await this.progress.laggards(at).catch(() => undefined);
      if (late?.isOutdated === true) return undefined;
      if (late !== undefined) {
        const { passing, behind } = late;
        until ??= performance.now() + this.longestWaitMs;
        if (behind.length === 0 || performance.now() >= until) return { but: [...passing, ...behind] };
      }
      await pause(LOOK_MS, stop);
    }
    return undefined;
  }

  /** Whether no pass over an application of the share has begun since {@link upTo} has returned it. */
  async isStill(share: AppShare, at: mongo.Timestamp): Promise<boolean> {
    const late = await this.progress.laggards(at);
    if (late === undefined || late.isOutdated) return false;
    return [...late.passing, ...late.behind].every((one) => !isIn(share, one));
  }

  /**
   * Waits until no pass over everything is running. Returns the applications that no pass of their own concerns; undefined if
   * `stop` is aborted first.
   */
  async noPass(stop: AbortSignal): Promise<AppShare | undefined> {
    while (!stop.aborted) {
      const passing = await this.progress.passing().catch(() => undefined);
      if (passing !== undefined) return { but: passing };
      await pause(LOOK_MS, stop);
    }
    return undefined;
  }
}
