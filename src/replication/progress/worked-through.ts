import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import mongoose, { type Connection, type mongo } from 'mongoose';
import { pause } from '../../common/index.js';
import { ProgressReader } from './progress-reader.js';

const LOOK_MS = 100;
const BEGINNING = new mongoose.mongo.Timestamp({ t: 0, i: 0 });

/** Where the database stands. */
export interface Now {
  /** Everything written so far is at or before it. */
  at: mongo.Timestamp;
  /** The database's clock. */
  clock: Date;
}

/** Tells what the leader does beside the stream how far the stream has come. */
@Injectable()
export class WorkedThrough {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly progress: ProgressReader,
  ) {}

  async now(): Promise<Now> {
    const { operationTime, localTime } = await this.connection.db!.command({ hello: 1 });
    return { at: operationTime as mongo.Timestamp, clock: localTime as Date };
  }

  /**
   * Waits until everything up to a cluster time is worked through and no pass is under way; false where `stop` came
   * first.
   */
  async upTo(at: mongo.Timestamp, stop: AbortSignal): Promise<boolean> {
    while (!stop.aborted) {
      const look = await this.progress.read().catch(() => undefined);
      if (look !== undefined && look.watched.compare(at) >= 0) return true;
      await pause(LOOK_MS, stop);
    }
    return false;
  }

  /** Waits until no pass is under way; false where `stop` came first. */
  noPass(stop: AbortSignal): Promise<boolean> {
    return this.upTo(BEGINNING, stop);
  }
}
