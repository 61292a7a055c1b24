import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { Model, mongo } from 'mongoose';
import { SharedReads } from '../../common/index.js';
import { CLOCK } from '../../database/index.js';
import { problems } from '../../http/index.js';
import { isPreparing, type WatchProgress } from './progress.js';
import { WATCH_STATE_MODEL } from './watch-state.schema.js';
import { WATCHER, type WatchState } from './watch-state.js';

/** The watcher's progress at one look. */
export interface ProgressLook {
  /** The database's clock. */
  clock: Date;
  progress: WatchProgress;
  /** Everything up to here is worked through. */
  watched: mongo.Timestamp;
}

/** Reads how far the watcher has come. Every look throws 503 `preparing` during a pass. */
@Injectable()
export class ProgressReader {
  private readonly shared = new SharedReads<ProgressLook>();

  constructor(@InjectModel(WATCH_STATE_MODEL) private readonly states: Model<WatchState>) {}

  /** One look for all who ask at the same time. */
  read(): Promise<ProgressLook> {
    return this.shared.share(WATCHER, () => this.readWith([]));
  }

  /** A look with what further stages join to it, so that both are seen as they stand at one time. */
  async readWith<T extends object>(stages: mongo.Document[]): Promise<ProgressLook & Partial<T>> {
    const [state] = await this.states.collection
      .aggregate<WatchProgress & { clock: Date } & Partial<T>>([
        { $match: { _id: WATCHER } },
        { $project: { since: 1, watched: 1, pass: 1, clock: CLOCK } },
        ...stages,
      ])
      .toArray();
    if (state?.watched === undefined || isPreparing(state)) throw problems.preparing();
    const { clock, since, watched, pass, ...joined } = state;
    const progress = { watched, ...(since && { since }), ...(pass !== undefined && { pass }) };
    return { clock, progress, watched, ...(joined as unknown as Partial<T>) };
  }
}
