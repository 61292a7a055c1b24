import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { Model } from 'mongoose';
import { ControlStream, KnownDocuments } from '../../control/index.js';
import type { Tenant } from '../../record/index.js';
import { isAside, isPreparing, type ProgressLook, progressOf, workOf } from './progress.js';
import { WATCH_STATE_MODEL } from './watch-state.schema.js';
import { WATCHER, type WatchState } from './watch-state.js';

/** What feeds and `max` have to know of the watcher. */
type KnownState = Pick<WatchState, '_id' | 'watched' | 'since' | 'pass' | 'expires' | 'aside' | 'pace'>;

/** How far the watcher has come, as this instance knows it without asking. */
@Injectable()
export class KnownProgress {
  private readonly states: KnownDocuments<KnownState>;

  constructor(
    private readonly control: ControlStream,
    @InjectModel(WATCH_STATE_MODEL) private readonly model: Model<WatchState>,
  ) {
    const told = ['watched', 'since', 'pass', 'expires', 'aside', 'pace'] as const;
    this.states = new KnownDocuments(control, model.collection.collectionName, told);
  }

  /**
   * How far the watcher has come with an application. Undefined if this instance does not know it, if no instance leads, or if feeds
   * of the application show nothing now: then the caller reads the database. The database's clock has reached `clock`.
   */
  async look(tenant: Tenant): Promise<ProgressLook | undefined> {
    if (!this.control.isCurrent) return undefined;
    const state = this.peek() ?? (await this.find());
    const { clock, clockByNow } = this.control;
    if (state === undefined || clock === undefined || clockByNow === undefined) return undefined;
    const progress = progressOf(state, tenant);
    const { watched } = progress;
    if (watched === undefined || isPreparing(progress) || state.expires <= clockByNow) return undefined;
    return { clock, watched, progress, isAside: isAside(state, tenant), work: workOf(state, tenant) };
  }

  /** The state of all applications, if it is known. */
  peek(): KnownState | undefined {
    return this.states.peek(WATCHER);
  }

  /** The known state, or else the stored one; undefined if the database does not answer soon. */
  async find(): Promise<KnownState | undefined> {
    return (await this.states.find(WATCHER, () => this.read())) ?? undefined;
  }

  private async read(): Promise<KnownState | null> {
    const state = await this.control.readSoon((options) =>
      this.model.collection.findOne<KnownState>({ _id: WATCHER as never }, options),
    );
    return state ?? null;
  }
}
