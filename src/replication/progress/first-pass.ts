import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { Model } from 'mongoose';
import { WATCH_STATE_MODEL } from './watch-state.schema.js';
import { WATCHER, type WatchState } from './watch-state.js';

/** Tells whether the first pass has ever ended, which stays true: it is asked until then. */
@Injectable()
export class FirstPass {
  private ended = false;

  constructor(@InjectModel(WATCH_STATE_MODEL) private readonly states: Model<WatchState>) {}

  async hasEnded(): Promise<boolean> {
    this.ended ||= (await this.states.exists({ _id: WATCHER, since: { $exists: true } })) !== null;
    return this.ended;
  }
}
