import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { Model } from 'mongoose';
import { IndexKeeper } from '../../../database/index.js';
import { FilterChanges } from '../../filters/index.js';
import { Ledger } from '../../ledger/index.js';
import { asLongAsWorkedOn, type Batch, INDEX_BUILDS, Reader } from '../../log/index.js';
import { type Fences, HeadWriter, type Mark, MARK_MODEL, readFences } from '../../mark/index.js';
import { type AsideApplication, isIn, type PassProgress, type WatchState } from '../../progress/index.js';
import { Pass, placeOfStream } from '../pass/pass.js';
import { isPassStored } from '../pass/stored-pass.js';
import { StreamWork } from './stream-work.js';
import type { Start, Term } from './term.js';

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
