import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { Model, mongo } from 'mongoose';
import { literal, SharedReads } from '../../common/index.js';
import { CLOCK } from '../../database/index.js';
import { problems } from '../../http/index.js';
import type { Tenant } from '../../record/index.js';
import { isPreparing, type ProgressLook, type WatchProgress } from './progress.js';
import type { StoredWork } from './rest.js';
import { placeAt, SLOWEST, watchedOf } from './stored-progress.js';
import { waitingFor } from './waiting.js';
import { WATCH_STATE_MODEL } from './watch-state.schema.js';
import { WATCHER, type WatchState } from './watch-state.js';

const ALL = 'all';
const MAIN = 'main';

/** Whether an instance leads. */
interface Led {
  isLed: boolean;
}
const LED = { isLed: { $gt: ['$expires', CLOCK] } };
/** A look at more than one application. */
const TOGETHER = {
  since: placeAt('$since'),
  pass: { $ifNull: ['$pass', '$$REMOVE'] },
  isAside: literal(false),
  work: literal({}),
};

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
    return this.shared.share(MAIN, () => this.look({ watched: placeAt('$watched'), ...TOGETHER }, []));
  }

  /** How far it has come with every application. */
  readAll(): Promise<ProgressLook> {
    return this.shared.share(ALL, () => this.look({ watched: SLOWEST, ...TOGETHER }, []));
  }

  /**
   * A look at one application with what further stages join to it, so that both are seen as they stand at one time. To the
   * stages `$watched` is that of the application.
   */
  readWith<T extends object>(tenant: Tenant, stages: mongo.Document[]): Promise<ProgressLook & Partial<T>> {
    return this.look<T>(watchedOf(tenant), stages, tenant);
  }

  private async look<T extends object>(
    projection: ReturnType<typeof watchedOf>,
    stages: mongo.Document[],
    tenant?: Tenant,
  ): Promise<ProgressLook & Partial<T>> {
    const [state] = await this.states.collection
      .aggregate<WatchProgress & Pick<ProgressLook, 'clock' | 'isAside' | 'work'> & Led & Partial<T>>([
        { $match: { _id: WATCHER } },
        { $project: { clock: CLOCK, ...LED, ...projection } },
        ...stages,
      ])
      .toArray();
    if (state?.watched === undefined || isPreparing(state)) throw preparing(state, tenant);
    const { clock, since, watched, pass, isAside, isLed, work, ...joined } = state;
    const progress = { watched, ...(since && { since }), ...(pass !== undefined && { pass }) };
    const look = { clock, progress, watched, isAside, work: isLed ? work : {} };
    return { ...look, ...(joined as unknown as Partial<T>) };
  }
}

function preparing(state: (WatchProgress & Led) | undefined, tenant: Tenant | undefined): Error {
  const pass = state?.isLed === true ? (state.pass as StoredWork | undefined) : undefined;
  return problems.preparing(tenant && waitingFor(tenant, pass ?? {}));
}
