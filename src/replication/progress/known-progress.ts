import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { Model } from 'mongoose';
import { ControlStream, KnownDocuments } from '../../control/index.js';
import type { ProgressLook } from './progress-reader.js';
import { isPreparing } from './progress.js';
import { WATCH_STATE_MODEL } from './watch-state.schema.js';
import { WATCHER, type WatchState } from './watch-state.js';

/** What feeds and `max` have to know of the watcher. */
type KnownState = Pick<WatchState, '_id' | 'watched' | 'since' | 'pass' | 'expires'>;

/** How far the watcher has come, as this instance knows it without asking. */
@Injectable()
export class KnownProgress {
  private readonly states: KnownDocuments<KnownState>;

  constructor(
    private readonly control: ControlStream,
    @InjectModel(WATCH_STATE_MODEL) private readonly model: Model<WatchState>,
  ) {
    const told = ['watched', 'since', 'pass', 'expires'] as const;
    this.states = new KnownDocuments(control, model.collection.collectionName, told);
  }

  /**
   * Nothing where it is not known, where nobody leads or nothing can be shown now: then the database has to be asked. The
   * clock is one that the database's has reached.
   */
  async look(): Promise<ProgressLook | undefined> {
    if (!this.control.isCurrent) return undefined;
    const state = this.states.peek(WATCHER) ?? (await this.states.find(WATCHER, () => this.read()));
    const { clock, clockByNow } = this.control;
    if (state?.watched === undefined || clock === undefined || clockByNow === undefined) return undefined;
    if (isPreparing(state) || state.expires <= clockByNow) return undefined;
    const { watched, since } = state;
    return { clock, watched, progress: { watched, ...(since && { since }) } };
  }

  private async read(): Promise<KnownState | null> {
    const state = await this.control.readSoon((options) =>
      this.model.collection.findOne<KnownState>({ _id: WATCHER as never }, options),
    );
    return state ?? null;
  }
}
