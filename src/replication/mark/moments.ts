import { setTimeout as wait } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { Model } from 'mongoose';
import { problems } from '../../common/index.js';
import { CLOCK } from '../../database/index.js';
import { WATCH_STATE_MODEL, WATCHER, type WatchState } from './watch-state.js';

const LOOK_MS = 100;

/** As of when a page or a `max` shows the database. */
export interface Moment {
  /** The database's clock then: no page reaches beyond it (contract §1, `to`). */
  clock: Date;
}

/** The one door through which feeds and `max` come to a moment. */
@Injectable()
export class Moments {
  constructor(@InjectModel(WATCH_STATE_MODEL) private readonly states: Model<WatchState>) {}

  /** Now, by the database's clock; throws 503 `preparing` until the first pass has ended. */
  async current(): Promise<Moment> {
    const [state] = await this.states.collection
      .aggregate<{ clock: Date; since?: unknown }>([
        { $match: { _id: WATCHER } },
        { $project: { since: 1, clock: CLOCK } },
      ])
      .toArray();
    if (state?.since === undefined) throw problems.preparing();
    return { clock: state.clock };
  }

  /** The first moment that there is, however long it takes. */
  async first(): Promise<Moment> {
    for (;;) {
      const moment = await this.current().catch(() => undefined);
      if (moment !== undefined) return moment;
      await wait(LOOK_MS);
    }
  }
}
