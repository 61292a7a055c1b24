import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import { pause } from '../../common/index.js';
import { bareCommand, COMMAND_MS, placedReply } from '../../database/index.js';
import { ProgressReader } from './progress-reader.js';

const LOOK_MS = 100;

/** Where the database stands. */
export interface Now {
  /** Everything written so far is at or before it. */
  at: mongo.Timestamp;
  /** The database's clock. */
  clock: Date;
}

/** Tells what the leader does beside the stream how far it has come with every application. */
@Injectable()
export class WorkedThrough {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly progress: ProgressReader,
  ) {}

  /** Throws a DeadlineError where the server does not tell it in time. */
  async now(): Promise<Now> {
    const hello = () => bareCommand(this.connection.db!, { hello: 1 }, { within: COMMAND_MS });
    const { at, reply } = await placedReply('now', hello, { within: COMMAND_MS });
    const { localTime } = reply;
    return { at, clock: localTime instanceof Date ? localTime : new Date(at.getHighBitsUnsigned() * 1000) };
  }

  /**
   * Waits until everything of every application up to a cluster time is worked through and no pass is under way; false where
   * `stop` came first.
   */
  async upTo(at: mongo.Timestamp, stop: AbortSignal): Promise<boolean> {
    while (!stop.aborted) {
      const look = await this.progress.readAll().catch(() => undefined);
      if (look !== undefined && look.watched.compare(at) >= 0) return true;
      await pause(LOOK_MS, stop);
    }
    return false;
  }

  /** Waits until no pass is under way; false where `stop` came first. */
  async noPass(stop: AbortSignal): Promise<boolean> {
    while (!stop.aborted) {
      if ((await this.progress.readMain().catch(() => undefined)) !== undefined) return true;
      await pause(LOOK_MS, stop);
    }
    return false;
  }
}
