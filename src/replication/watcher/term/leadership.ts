import { Injectable, Logger } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import { type Model, mongo } from 'mongoose';
import { IndexKeeper } from '../../../database/index.js';
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
import { Pass, placeOfStream, isPassStored } from '../pass/pass.js';
import { StreamWork, type Start, type Term } from './stream-work.js';
import { IgnoredRecords } from '../repair/ignored-records.js';
import { Jobs, Orphans } from '../jobs.js';
import { Following } from './following.js';

/** A pass looks for what is new in between and shall not wait for it (milliseconds). */
const PASS_WAIT_MS = 50;

/**
 * How a term begins that has no place in the log to go on from: with a stream, and a pass over everything beside it. Large applications are
 * left to a pass of their own, which their lanes begin with: all others are shown when this one has ended.
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
  ) {}

  /**
   * Opens the new stream, or the one of a pass that was cut off, then passes over everything, working through the stream
   * all the while: what it tells overrides what the pass learns. From the first write on feeds answer 503 `preparing`,
   * until the stream has come to the end of the pass. Nothing where the term was stopped.
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
      // Before any effect: one that was overtaken by now may have opened its stream at a later place than the leader has.
      await this.work.save(whole, { pass: progress });
      await this.work.workThrough(term, opening, fences);
      await this.pass.run({ at, progress, stop, term, ...this.beside(term, reader, fences) });
      await this.filters.lookAtAll(whole);
      if (stop.aborted) return undefined;
      return await this.endPass(whole, reader.last, progress);
    } finally {
      await stream.return();
    }
  }

  /** What a pass does between two stretches. */
  private beside(term: Term, reader: Reader, fences: Fences) {
    return {
      keepUp: () => {
        term.showLife();
        return reader.keepUp(async (batch) => {
          await this.work.workThrough(term, batch, fences);
        });
      },
      tell: (pass: PassProgress) => this.work.save(term, { pass }),
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

  /** On the first start there is no fence yet, so nothing can have been missed; later everything can. */
  private async isRepair({ pass, since }: WatchState): Promise<boolean> {
    if (pass !== undefined) return !isPassStored(pass) || pass.isRepair;
    return since !== undefined || (await this.marks.exists({})) !== null || this.ledger.isBegun();
  }
}

/** What a leader does for as long as its term lasts: go on from the token, or begin with a pass. */
@Injectable()
export class Leadership {
  private readonly log = new Logger('Watcher');

  constructor(
    private readonly beginning: Beginning,
    private readonly following: Following,
    private readonly work: StreamWork,
    private readonly filters: FilterChanges,
    private readonly quarantine: Quarantine,
    private readonly ignored: IgnoredRecords,
    private readonly jobs: Jobs,
    private readonly orphans: Orphans,
  ) {}

  /** Ends when `stop` is aborted, or throws: TermOverError, or what the database threw. */
  async lead(term: Term): Promise<void> {
    this.quarantine.beginTerm();
    await this.orphans.end();
    const over = new AbortController();
    const kept = this.jobs.run(AbortSignal.any([term.stop, over.signal]), term);
    try {
      await this.go(term);
    } finally {
      over.abort();
      await kept;
      this.ignored.reset();
      this.filters.leave();
    }
  }

  private async go(term: Term): Promise<void> {
    const { since, token, pass } = term.state;
    let start: Start | undefined = since && token && !pass ? { token, since } : undefined;
    let reason = pass?.reason ?? (since === undefined ? 'first start' : 'no token');
    while (!term.stop.aborted) {
      try {
        if (start === undefined) start = await this.beginning.begin(term, reason);
        else await this.resume(term, start);
        return start && (await this.following.follow(term, start));
      } catch (error) {
        if (!(error instanceof HistoryLostError)) throw error;
        this.log.error(error.message);
        delete term.state.pass?.reached;
        reason = error.message;
        start = undefined;
      }
    }
  }

  private async resume(term: Term, { token }: Start): Promise<void> {
    const places = asideIn(term.state).flatMap((one) => (one.pass === undefined ? [one.token] : []));
    for (const place of [token, ...places]) await this.work.assertPast(place);
    // What changed before this leader began is not told to it.
    await this.filters.look(undefined, term);
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
    throw new HistoryLostError('the places of the applications that are aside are damaged');
  return known;
}
