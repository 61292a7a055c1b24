import { Injectable, Logger } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import { type Model, mongo } from 'mongoose';
import { IndexKeeper } from '../../../platform/database/index.js';
import { FilterChanges } from '../filters/filter-changes.js';
import { Ledger, HeadWriter, MARK_MODEL, readFences, Quarantine } from '../../store/index.js';
import { asLongAsWorkedOn, INDEX_BUILDS } from '../log/long-command.js';
import { type Batch, Reader, HistoryLostError } from '../log/change-stream.js';
import {
  type Fences,
  type Mark,
  type AsideApplication,
  isIn,
  type PassProgress,
  type WatchState,
  knownAside,
} from '../../protocol/index.js';
import { KindPasses } from '../pass/kind-passes.js';
import { Pass, placeOfStream, isPassStored } from '../pass/pass.js';
import { StreamWork, type Start, type Term } from './stream-work.js';
import { IgnoredRecords } from '../repair/ignored-records.js';
import { Jobs, Orphans } from '../jobs.js';
import { Following } from './following.js';

/** Longest wait for stream events during a pass (milliseconds). */
const PASS_WAIT_MS = 50;

/**
 * Begins a term that has no place in the log to resume from: with a stream, and a pass over everything beside it. Large
 * applications are left out. Their lanes begin with a pass of their own, and all others are shown when this pass has ended.
 */
@Injectable()
export class Beginning {
  constructor(
    @InjectModel(MARK_MODEL) private readonly marks: Model<Mark>,
    private readonly ledger: Ledger,
    private readonly filters: FilterChanges,
    private readonly pass: Pass,
    private readonly indexes: IndexKeeper,
    private readonly work: StreamWork,
    private readonly heads: HeadWriter,
    private readonly kindPasses: KindPasses,
  ) {}

  /**
   * Opens a new stream, or that of an interrupted pass. Then passes over everything and processes the stream meanwhile: its
   * events override what the pass learns. From the first write on, feeds answer 503 `preparing`, until the stream has
   * reached the end of the pass. Returns undefined if the term was stopped.
   */
  async begin(whole: Term, reason: string): Promise<Start | undefined> {
    const { state, stop } = whole;
    const progress = await this.pass.prepare(reason, await this.isRepair(state), state);
    const { reached, later = [] } = progress;
    const term = later.length === 0 ? whole : { ...whole, whole, share: { but: later } };
    if (reached !== undefined) await this.work.assertPast(reached.token);
    await this.work.save(term, { pass: progress, aside: [] });
    Object.assign(state, { pass: progress, aside: [] });
    this.heads.beginTerm();
    const stream = this.work.open(term, reached?.token, { longestWait: PASS_WAIT_MS });
    try {
      const reader = new Reader(stream);
      const opening = await reader.next();
      await this.makeIndexes(term);
      const fences = await readFences(this.marks);
      const { at } = (progress.reached ??= placeOfStream(opening));
      // Before any effect, because the write fails for a superseded leader, whose stream may have been opened at a
      // later place than that of the current leader.
      await this.work.save(whole, { pass: progress });
      await this.work.workThrough(term, opening, fences);
      const kinds = this.kindPasses.ready();
      await this.pass.run({ at, progress, stop, term, kinds, ...this.beside(term, reader, fences) });
      await this.filters.checkAll(whole);
      if (stop.aborted) return undefined;
      return await this.endPass(whole, reader.last, progress);
    } finally {
      await stream.return();
    }
  }

  /** What a pass does between two ranges of documents. */
  private beside(term: Term, reader: Reader, fences: Fences) {
    return {
      keepUp: () => {
        term.showLife();
        return reader.keepUp(async (batch) => {
          await this.work.workThrough(term, batch, fences);
        });
      },
      save: (pass: PassProgress) => this.work.save(term, { pass }),
      token: () => reader.last.token,
    };
  }

  private async makeIndexes(term: Term): Promise<void> {
    const { client, stop } = term;
    await asLongAsWorkedOn({ client, term, stop, shownAs: INDEX_BUILDS }, () => this.indexes.keep()).catch(
      (error: unknown) => {
        this.indexes.leaveBehind();
        throw error;
      },
    );
  }

  private async endPass(term: Term, { token, until }: Batch, progress: PassProgress): Promise<Start> {
    const { reason, isRepair, isBare, later = [], first = [] } = progress;
    const since = await this.work.presentTime();
    const started = new Date();
    const pass = { reason, isRepair, ...(isBare && { isBare }), started, done: 0, total: 0 };
    const aside = later.map((tenant): AsideApplication => {
      const isFirst = !isRepair || first.some((one) => isIn({ only: tenant }, one));
      return { ...tenant, pass: { ...pass, ...(isFirst && { isFirst }) } };
    });
    await this.work.saveEndOfPass(term, { token, watched: until, since, aside });
    term.state = { ...term.state, token, watched: until, since, aside };
    delete term.state.pass;
    return { token, since };
  }

  /** On the first start there is no fence yet, so no change can have been missed. Later, any change can have been. */
  private async isRepair({ pass, since }: WatchState): Promise<boolean> {
    if (pass !== undefined) return !isPassStored(pass) || pass.isRepair;
    return since !== undefined || (await this.marks.exists({})) !== null || this.ledger.hasEntries();
  }
}

/** Leads for one term: resumes from the token, or begins with a pass. */
@Injectable()
export class Leadership {
  private readonly log = new Logger('Watcher');
  /** The last term that has begun. One that was abandoned may end after it has begun. */
  private latest: Term | undefined;

  constructor(
    private readonly beginning: Beginning,
    private readonly following: Following,
    private readonly work: StreamWork,
    private readonly filters: FilterChanges,
    private readonly quarantine: Quarantine,
    private readonly ignored: IgnoredRecords,
    private readonly jobs: Jobs,
    private readonly orphans: Orphans,
    private readonly kindPasses: KindPasses,
  ) {}

  /** Returns when `stop` is aborted. Throws a TermOverError or a database error. */
  async lead(term: Term): Promise<void> {
    this.latest = term;
    this.ignored.reset();
    try {
      await this.leadOn(term);
    } finally {
      if (this.latest === term) this.leave();
    }
  }

  private async leadOn(term: Term): Promise<void> {
    this.quarantine.beginTerm();
    await this.kindPasses.beginTerm(term);
    await this.orphans.end();
    const over = new AbortController();
    const kept = this.jobs.run(AbortSignal.any([term.stop, over.signal]), term);
    try {
      await this.go(term);
    } finally {
      over.abort();
      await kept;
    }
  }

  /** Discards the counts, which the next leader makes. */
  private leave(): void {
    this.ignored.reset();
    this.filters.leave();
  }

  private async go(term: Term): Promise<void> {
    const { since, token, pass } = term.state;
    let start: Start | undefined = since && token && !pass ? { token, since } : undefined;
    let reason = pass?.reason ?? (since === undefined ? 'first start' : 'no token');
    while (!term.stop.aborted) {
      try {
        if (start === undefined) {
          start = await this.beginning.begin(term, reason);
          this.kindPasses.goOn(term);
        } else {
          this.kindPasses.goOn(term);
          await this.resume(term, start);
        }
        return start && (await this.following.follow(term, start));
      } catch (error) {
        if (!(error instanceof HistoryLostError)) throw error;
        this.log.error(error.message);
        delete term.state.pass?.reached;
        await this.kindPasses.interrupt(term);
        reason = error.message;
        start = undefined;
      }
    }
  }

  private async resume(term: Term, { token }: Start): Promise<void> {
    const places = asideIn(term.state).flatMap((one) => (one.pass === undefined ? [one.token] : []));
    for (const place of [token, ...places]) await this.work.assertPast(place);
    // This leader receives no events for earlier edits of services, so it reads all services.
    await this.filters.check(undefined, term);
  }
}

/** Throws a HistoryLostError if the places of applications that are aside are damaged. */
function asideIn(state: WatchState): AsideApplication[] {
  const aside: unknown = state.aside ?? [];
  const known = knownAside(state) as AsideApplication[];
  const names = new Set(known.map(({ organizationid, appid }) => JSON.stringify([organizationid, appid])));
  const isPlaced = known.every(({ token, since, pass }) =>
    pass === undefined
      ? typeof (token as { _data?: unknown } | null)?._data === 'string' &&
        (since === undefined || since instanceof mongo.Timestamp)
      : isPassStored(pass),
  );
  if (!Array.isArray(aside) || names.size < aside.length || !isPlaced)
    throw new HistoryLostError(
      'the stored positions of the applications that are processed separately are damaged',
    );
  return known;
}
