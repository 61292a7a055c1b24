import { Injectable, Logger } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { Model } from 'mongoose';
import { IndexKeeper } from '../../../platform/database/index.js';
import type { Batch } from '../log/change-stream.js';
import { type Fences, type Mark, placeAfter, type EventsByTenant } from '../../protocol/index.js';
import { HeadWriter, MARK_MODEL, readFences } from '../../store/index.js';
import { WrittenMaintenance, MissingIds } from '../effects/decision-writer.js';
import { Lanes } from './lanes.js';
import { OwnPass } from './own-pass.js';
import { furthest, StreamWork, type Start, type Term } from './stream-work.js';

/** How often the position of an idle stream is stored in the lease (milliseconds). */
const SAVE_MS = 2000;
/** How often the position is stored while all events that the stream reads are those of other loops (milliseconds). */
const SAVE_PASSED_MS = 100;
/** How often the indexes are checked (milliseconds). */
const INDEXES_MS = 20_000;

/** Follows the stream batch by batch, until the term is over. */
@Injectable()
export class Following {
  private readonly log = new Logger('Watcher');

  constructor(
    @InjectModel(MARK_MODEL) private readonly marks: Model<Mark>,
    private readonly indexes: IndexKeeper,
    private readonly work: StreamWork,
    private readonly ownPass: OwnPass,
    private readonly maintenance: WrittenMaintenance,
    private readonly missingIds: MissingIds,
    private readonly heads: HeadWriter,
  ) {}

  async follow(term: Term, { token, since }: Start): Promise<void> {
    const fences = await readFences(this.marks);
    this.missingIds.beginTerm();
    this.heads.beginTerm();
    const { work, ownPass } = this;
    const lanes = new Lanes({ work, ownPass }, term, fences, token);
    try {
      await this.followBeside(lanes, term, { start: { token, since }, fences });
    } finally {
      await lanes.end();
    }
  }

  private async followBeside(
    lanes: Lanes,
    term: Term,
    { start, fences }: { start: Start; fences: Fences },
  ): Promise<void> {
    let savedAt = performance.now();
    let indexesAt = performance.now();
    let awaited = start.since;
    let watched = term.state.watched;
    let hasEvents = false;
    for await (const batch of this.work.open(term, start.token)) {
      awaited = lanes.sinceMoved() ?? awaited;
      const hasCome = awaited !== undefined && batch.until.compare(awaited) >= 0;
      if (hasCome) awaited = undefined;
      term.showLife();
      lanes.come(batch);
      if (performance.now() - indexesAt > INDEXES_MS) {
        void this.keepIndexes(lanes);
        indexesAt = performance.now();
      }
      const heavy = await this.workThrough(batch, lanes, fences);
      if (batch.isLast) await this.maintenance.maintainWaiting(placeAfter(batch.until), lanes.mainTerm);
      watched = furthest(watched, batch.until);
      if (awaited === undefined) lanes.putAside(batch, heavy, watched);
      hasEvents ||= batch.events.length > 0;
      // While the log has more, the feeds of these applications show nothing new after a batch without events of theirs.
      const isOwn = heavy.size > 0 || (batch.isLast && hasEvents);
      const isDue = isOwn || hasCome || lanes.isChanged;
      if (!isDue && performance.now() - savedAt <= (hasEvents ? SAVE_PASSED_MS : SAVE_MS)) continue;
      await lanes.saveMain({ token: batch.token, watched });
      savedAt = performance.now();
      hasEvents = false;
    }
  }

  /** Returns the number of events per application in the last part of the batch that contains any. */
  private async workThrough(batch: Batch, lanes: Lanes, fences: Fences): Promise<EventsByTenant> {
    let counts: EventsByTenant = new Map();
    for (const { events, joining } of lanes.partsOf(batch)) {
      if (events.length > 0) {
        counts = await this.work.workThrough(lanes.mainTerm, { events }, fences);
      }
      if (joining === undefined) continue;
      lanes.takeBack(joining);
      this.missingIds.beginTerm();
    }
    return counts;
  }

  /** Runs beside the stream, since it takes minutes. If it has built an index, `since` moves to a time after the build. */
  private async keepIndexes(lanes: Lanes): Promise<void> {
    try {
      if (await this.indexes.keep()) await lanes.moveSince();
    } catch (error) {
      this.log.warn(`The indexes cannot be checked: ${(error as Error).message}`);
    }
  }
}
