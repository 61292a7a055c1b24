import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { Model, mongo } from 'mongoose';
import { literal, SharedReads } from '../../common/index.js';
import { CLOCK } from '../../database/index.js';
import { problems } from '../../http/index.js';
import type { Tenant } from '../../record/index.js';
import { isPreparing, type WatchProgress } from './progress.js';
import { placeAt, SLOWEST, watchedOf } from './stored-progress.js';
import { WATCH_STATE_MODEL } from './watch-state.schema.js';
import { WATCHER, type WatchState } from './watch-state.js';

const ALL = 'all';
const MAIN = 'main';

/** The watcher's progress at one look, with one application or with all. */
export interface ProgressLook {
  /** The database's clock. */
  clock: Date;
  progress: WatchProgress;
  /** Everything up to here is worked through. */
  watched: mongo.Timestamp;
  /** Whether it is one application that the leader works through beside all others. */
  isAside: boolean;
}

/** Reads how far the watcher has come. Every look throws 503 `preparing` during a pass. */
@Injectable()
export class ProgressReader {
  private readonly shared = new SharedReads<ProgressLook>();

  constructor(@InjectModel(WATCH_STATE_MODEL) private readonly states: Model<WatchState>) {}

  /** How far it has come with one application: one look for all who ask about it at the same time. */
  read({ organizationid, appid }: Tenant): Promise<ProgressLook> {
    const tenant = { organizationid, appid };
    return this.shared.share(JSON.stringify([organizationid, appid]), () => this.readWith(tenant, []));
  }

  /** How far it has come with those applications that it works through together. */
  readMain(): Promise<ProgressLook> {
    const main = { watched: placeAt('$watched'), isAside: literal(false) };
    return this.shared.share(MAIN, () => this.look(main, []));
  }

  /** How far it has come with every application. */
  readAll(): Promise<ProgressLook> {
    return this.shared.share(ALL, () => this.look({ watched: SLOWEST, isAside: literal(false) }, []));
  }

  /**
   * A look at one application with what further stages join to it, so that both are seen as they stand at one time. To the
   * stages `$watched` is that of the application.
   */
  readWith<T extends object>(tenant: Tenant, stages: mongo.Document[]): Promise<ProgressLook & Partial<T>> {
    return this.look<T>(watchedOf(tenant), stages);
  }

  private async look<T extends object>(
    projection: { watched: mongo.Document; isAside: mongo.Document },
    stages: mongo.Document[],
  ): Promise<ProgressLook & Partial<T>> {
    const [state] = await this.states.collection
      .aggregate<WatchProgress & Pick<ProgressLook, 'clock' | 'isAside'> & Partial<T>>([
        { $match: { _id: WATCHER } },
        { $project: { since: placeAt('$since'), pass: 1, clock: CLOCK, ...projection } },
        ...stages,
      ])
      .toArray();
    if (state?.watched === undefined || isPreparing(state)) throw problems.preparing();
    const { clock, since, watched, pass, isAside, ...joined } = state;
    const progress = { watched, ...(since && { since }), ...(pass !== undefined && { pass }) };
    return { clock, progress, watched, isAside, ...(joined as unknown as Partial<T>) };
  }
}
