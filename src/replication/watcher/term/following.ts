import { Injectable, Logger } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { Model, mongo } from 'mongoose';
import { IndexKeeper } from '../../../database/index.js';
import { FilterChanges } from '../../filters/index.js';
import { HeadWriter, type Mark, MARK_MODEL, readFences } from '../../mark/index.js';
import { placeBehind } from '../../progress/index.js';
import { CareForWritten } from '../effects/care-for-written.js';
import { MissingIds } from '../effects/missing-ids.js';
import { StreamWork } from './stream-work.js';
import type { Start, Term } from './term.js';

/** How often the lease tells how far the stream has come where nothing happens (milliseconds). */
const SAVE_MS = 2000;
/** A change of `services` is an event; this is for an older wish that an overtaken leader wrote down too late. */
const RECONCILE_MS = 20_000;

/** How a term goes on: batch after batch of the stream, until it is over. */
@Injectable()
export class Following {
  private readonly log = new Logger('Watcher');

  constructor(
    @InjectModel(MARK_MODEL) private readonly marks: Model<Mark>,
    private readonly filters: FilterChanges,
    private readonly indexes: IndexKeeper,
    private readonly work: StreamWork,
    private readonly care: CareForWritten,
    private readonly missingIds: MissingIds,
    private readonly heads: HeadWriter,
  ) {}

  async follow(term: Term, { token, since }: Start): Promise<void> {
    const fences = await readFences(this.marks);
    this.missingIds.beginTerm();
    this.heads.beginTerm();
    let savedAt = performance.now();
    let reconciledAt = performance.now();
    let awaited = since;
    let watched = term.state.watched;
    const keepIndexes = async () => {
      const since = await this.keepIndexes(term);
      if (since !== undefined) awaited = since;
    };
    for await (const batch of this.work.open(term, token)) {
      const hasCome = awaited !== undefined && batch.until.compare(awaited) >= 0;
      if (hasCome) awaited = undefined;
      term.showLife();
      if (performance.now() - reconciledAt > RECONCILE_MS) {
        void keepIndexes();
        await this.filters.lookAgain(term);
        reconciledAt = performance.now();
      }
      if (batch.events.length > 0) await this.work.workThrough(term, batch, fences);
      await this.filters.goOn(term);
      if (batch.isLast) await this.care.lookAfterWaiting(placeBehind(batch.until), term);
      if (batch.events.length === 0 && !hasCome && performance.now() - savedAt <= SAVE_MS) continue;
      watched = furthest(watched, batch.until);
      await this.work.save(term, { token: batch.token, watched });
      savedAt = performance.now();
    }
  }

  /** Beside the stream, since it takes minutes: answers where `since` has moved to, behind the indexes that it made. */
  private async keepIndexes(term: Term): Promise<mongo.Timestamp | undefined> {
    try {
      if (!(await this.indexes.keep())) return undefined;
      const since = await this.work.presentTime();
      await this.work.save(term, { since });
      return since;
    } catch (error) {
      this.log.warn(`The indexes cannot be looked at: ${(error as Error).message}`);
      return undefined;
    }
  }
}

/** An announcement reaches its own place in the log, and what comes next only what is before it. */
function furthest(one: mongo.Timestamp | undefined, other: mongo.Timestamp): mongo.Timestamp {
  return one !== undefined && one.compare(other) > 0 ? one : other;
}
