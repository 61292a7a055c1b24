import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import mongoose, { type Connection, type mongo } from 'mongoose';
import { pause } from '../../platform/common/index.js';
import { bareCommand, COMMAND_MS, placedReply } from '../../platform/database/index.js';
import type { AppShare } from '../protocol/index.js';
import { ProgressReader } from './progress-reader.js';

const LOOK_MS = 100;
/** How long the lanes of applications that are aside have to reach what the main loop has reached (milliseconds). */
const LONGEST_WAIT_MS = 5000;
const BEGINNING = new mongoose.mongo.Timestamp({ t: 0, i: 0 });

/** The current time of the database. */
export interface Now {
  /** Everything written so far is at or before it. */
  at: mongo.Timestamp;
  /** The database's clock. */
  clock: Date;
}

/**
 * Lets the leader's background jobs wait for the watcher's progress. An application that is far behind, or over which a pass
 * is running, is left out instead of being waited for, so that it delays no other (design §10, rule 13).
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
   * the applications that are processed up to it by then; undefined if `stop` is aborted first.
   */
  upTo(at: mongo.Timestamp, stop: AbortSignal): Promise<AppShare | undefined> {
    return this.reached(at, this.longestWaitMs, stop);
  }

  /**
   * Waits until no pass over everything is running. Returns the applications that no pass of their own concerns; undefined if
   * `stop` is aborted first.
   */
  noPass(stop: AbortSignal): Promise<AppShare | undefined> {
    return this.reached(BEGINNING, 0, stop);
  }

  private async reached(
    at: mongo.Timestamp,
    patienceMs: number,
    stop: AbortSignal,
  ): Promise<AppShare | undefined> {
    let until: number | undefined;
    while (!stop.aborted) {
      const late = await this.progress.laggards(at).catch(() => undefined);
      if (late !== undefined) {
        const { passing, behind } = late;
        until ??= performance.now() + patienceMs;
        if (behind.length === 0 || performance.now() >= until) return { but: [...passing, ...behind] };
      }
      await pause(LOOK_MS, stop);
    }
    return undefined;
  }
}
