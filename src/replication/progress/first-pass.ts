import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { Model } from 'mongoose';
import type { Tenant } from '../../record/index.js';
import { knownAside } from './progress.js';
import { isIn } from './share.js';
import { WATCH_STATE_MODEL } from './watch-state.schema.js';
import { type AsideApplication, WATCHER, type WatchState } from './watch-state.js';

/** Tells whether the first pass over an application has ever ended, which stays true: it is asked until all have ended. */
@Injectable()
export class FirstPass {
  private ended = false;

  constructor(@InjectModel(WATCH_STATE_MODEL) private readonly states: Model<WatchState>) {}

  async hasEnded(tenant: Tenant): Promise<boolean> {
    if (this.ended) return true;
    const projection = { since: 1, aside: 1, 'pass.first': 1 };
    const state = await this.states.collection.findOne<WatchState>({ _id: WATCHER as never }, { projection });
    if (state?.since === undefined) return false;
    const never = neverPassed(state);
    this.ended = never.length === 0;
    return !never.some((one) => isIn({ only: tenant }, one));
  }
}

/** What the lease tells of passes. */
export type PassState = Pick<WatchState, 'aside' | 'pass'>;

/** The applications over which no pass has ended yet, although one over everything has. */
export function neverPassed(state: PassState): Tenant[] {
  const own = (knownAside(state) as AsideApplication[]).filter(({ pass }) => pass?.isFirst === true);
  const first: unknown = state.pass?.first;
  const named = [...own, ...(Array.isArray(first) ? (first as (Partial<Tenant> | null)[]) : [])];
  return named.flatMap((one) =>
    typeof one?.organizationid === 'string' && typeof one.appid === 'string'
      ? [{ organizationid: one.organizationid, appid: one.appid }]
      : [],
  );
}
