import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { Model } from 'mongoose';
import type { Tenant } from '../../record/index.js';
import { knownAside } from './progress.js';
import { WATCH_STATE_MODEL } from './watch-state.schema.js';
import { type AsideApplication, WATCHER, type WatchState } from './watch-state.js';

/** Tells whether the first pass over an application has ever ended, which stays true: it is asked until all have ended. */
@Injectable()
export class FirstPass {
  private ended = false;

  constructor(@InjectModel(WATCH_STATE_MODEL) private readonly states: Model<WatchState>) {}

  async hasEnded({ organizationid, appid }: Tenant): Promise<boolean> {
    if (this.ended) return true;
    const projection = { since: 1, aside: 1 };
    const state = await this.states.collection.findOne<WatchState>({ _id: WATCHER as never }, { projection });
    if (state?.since === undefined) return false;
    const first = (knownAside(state) as AsideApplication[]).filter(({ pass }) => pass?.isRepair === false);
    this.ended = first.length === 0;
    return !first.some((one) => one.organizationid === organizationid && one.appid === appid);
  }
}
