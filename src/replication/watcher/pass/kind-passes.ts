import { once } from 'node:events';
import { Injectable, Logger } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection } from 'mongoose';
import { FatalError } from '../../../platform/common/index.js';
import { IndexKeeper } from '../../../platform/database/index.js';
import { collectionOf, describedKind, isBuiltIn, type Kind, kindNames } from '../../../kinds/index.js';
import {
  ALL,
  type LogPlace,
  type PassProgress,
  placeAfter,
  tokenAt,
  type WatchState,
} from '../../protocol/index.js';
import {
  hasMarks,
  type Job,
  Ledger,
  LEDGER,
  ProgressReader,
  type TermAtWork,
  TermOverError,
  WorkedThrough,
} from '../../store/index.js';
import { Lease } from '../lease.js';
import { Pass } from './pass.js';
import { duePass, PassedKinds } from './passed-kinds.js';

/** The part of a term that these passes need. */
interface Led extends TermAtWork {
  state: Pick<WatchState, 'term' | 'kinds'>;
  stop: AbortSignal;
}

/** A pass that has not ended. */
interface Running {
  /** Whether it reads records. Before that, it waits for the indexes. */
  isReading: boolean;
  /** The entries of its term. */
  passed: PassedKinds;
  ended: Promise<void>;
}

const MOST_AT_ONCE = 4;

/**
 * The passes over the records of kinds that operators have created (contract §8): the first one of each kind, and one
 * after its collection was dropped, renamed or replaced. A pass runs beside the stream, which follows the collection
 * from the beginning of the term on. What the pass learns is recorded as of the end of the log when the pass began, so
 * later events of the stream override it. Until the pass has ended, nothing of the kind is shown, so no consumer can
 * miss a change. Other kinds do not wait for it. A pass that is interrupted begins again from its start.
 */
@Injectable()
export class KindPasses implements Job {
  readonly name = 'The pass over a new kind';
  private readonly log = new Logger('Watcher');
  private term: Led | undefined;
  private passed: PassedKinds;
  /** Of this term: the running passes, the kinds whose last pass has failed, and those errors that are not yet thrown. */
  private running = new Map<Kind, Running>();
  private failed = new Set<Kind>();
  private failures = new Map<Kind, unknown>();
  private interruption = new AbortController();
  private hasStream = false;
  private wake: () => void = () => undefined;
  /** For each kind, the latest places in the log at which a pass over it began and at which its collection was lost. */
  private readonly begunAt = new Map<Kind, LogPlace>();
  private readonly lostAt = new Map<Kind, LogPlace>();

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly pass: Pass,
    private readonly ledger: Ledger,
    private readonly indexes: IndexKeeper,
    private readonly lease: Lease,
    private readonly workedThrough: WorkedThrough,
    private readonly progress: ProgressReader,
  ) {
    this.passed = PassedKinds.none(lease);
  }

  /**
   * Loads the entries of the kinds from the lease, and removes those whose kind was removed or was replaced by another
   * of the same name, because this term does not follow their collections. Adds the new kinds. Throws a TermOverError if
   * another instance leads now.
   */
  async beginTerm(term: Led): Promise<void> {
    this.term = term;
    this.hasStream = false;
    this.running = new Map();
    this.failed = new Set();
    this.failures = new Map();
    this.passed = PassedKinds.in(this.lease, term.state);
    await this.passed.removeOthers(term.state);
    const { connection, ledger } = this;
    const existed = async (kind: Kind) => (await hasMarks(connection, kind)) || ledger.knowsKind(kind);
    await this.passed.addNew(existed, () => term.showLife());
  }

  /** Throws an error after which the term has to end. */
  assertWell(): void {
    this.passed.assertWell();
  }

  /** The built-in kinds, and the created ones whose first pass has ended: other passes and the audit cover these. */
  ready(): Kind[] {
    return kindNames().filter((kind) => isBuiltIn(kind) || this.passed.of(kind)?.since !== undefined);
  }

  /**
   * The kinds that a pass over one application has to cover: those of {@link ready}, and those whose pass is reading. That pass
   * may have read records of the application before the application's own stream was opened, and no stream reports
   * what changed in between. Call it once that stream is open. The pass over any other kind begins later, from its start.
   */
  begun(): Kind[] {
    const ready = this.ready();
    return kindNames().filter((kind) => ready.includes(kind) || this.running.get(kind)?.isReading === true);
  }

  /**
   * Allows passes to begin, unless a later term has begun. Call it once the term has opened its stream, or knows the
   * place in the log from which it will. A pass that began earlier could read a record that is deleted before the
   * stream is opened, and no event would report that delete.
   */
  goOn(term: TermAtWork): void {
    if (term !== this.term) return;
    this.hasStream = true;
    this.wake();
  }

  /**
   * Stops the running passes, because the history of the log is lost: they have to begin again once the next stream is
   * open. Resolves when they have stopped. Does nothing if a later term has begun.
   */
  async interrupt(term: TermAtWork): Promise<void> {
    if (term !== this.term) return;
    const { interruption } = this;
    this.hasStream = false;
    this.interruption = new AbortController();
    interruption.abort();
    await this.allEnded(this.running);
  }

  /**
   * The collection of a kind was dropped, renamed or replaced at a place in the log. What has changed is unknown, so a
   * new pass follows, unless the last one began after that place. Throws a TermOverError if another instance leads now.
   */
  async lose(kind: Kind, place: LogPlace): Promise<void> {
    const { term, passed } = this;
    if (place > (this.lostAt.get(kind) ?? '')) this.lostAt.set(kind, place);
    const isSeen = (this.begunAt.get(kind) ?? '') > place;
    if (term === undefined || isSeen) return;
    // The end of a pass that did not see the loss may be in the course of being stored.
    await passed.settled();
    if (passed.of(kind)?.since === undefined) return;
    const reason = `the collection of the kind ${kind} was dropped or replaced`;
    this.log.warn(`A pass is due, because ${reason}: ${describedKind(kind).collection}`);
    await passed.save({ kind, pass: duePass(reason, true) });
    this.wake();
  }

  /**
   * Begins passes over the kinds that need one, those with the fewest records first, and waits until one ends or another
   * kind needs one. A kind whose collection is replaced does not wait for a long pass over another kind. Throws the error of a
   * pass that has failed; the others continue.
   */
  async step(stop: AbortSignal): Promise<number> {
    // An abandoned term must not replace the wake-up of the next one.
    if (stop.aborted) return 0;
    let wake = (): void => undefined;
    const woken = new Promise<void>((resolve) => (wake = resolve));
    this.wake = wake;
    const { term, running, failures } = this;
    const ready = this.ready();
    const due = kindNames().filter((kind) => !ready.includes(kind) && !running.has(kind));
    if (term !== undefined && due.length > 0 && this.hasStream)
      await this.begin(due, term, AbortSignal.any([stop, this.interruption.signal]));
    stop.addEventListener('abort', wake, { once: true });
    if (!stop.aborted) await woken;
    stop.removeEventListener('abort', wake);
    if (stop.aborted) await this.allEnded(running);
    for (const [kind, error] of failures) {
      failures.delete(kind);
      throw error;
    }
    return 0;
  }

  private async allEnded(running: Map<Kind, Running>): Promise<void> {
    await Promise.all([...running.values()].map(({ ended }) => ended));
  }

  private async begin(due: Kind[], term: Led, stop: AbortSignal): Promise<void> {
    const { running, passed } = this;
    for (const kind of await this.fewestFirst(due)) {
      if (stop.aborted || running.size >= MOST_AT_ONCE) return;
      const run: Running = { isReading: false, passed, ended: Promise.resolve() };
      running.set(kind, run);
      run.ended = this.runOver(kind, { ...term, stop }, run).then(() => {
        running.delete(kind);
        this.wake();
      });
    }
  }

  /** Never throws. A pass that is interrupted has not failed. */
  private async runOver(kind: Kind, term: Led, run: Running): Promise<void> {
    const { failures, failed } = this;
    try {
      await this.passOver(kind, term, run).catch((error: unknown) => this.explained(run, kind, error));
      failed.delete(kind);
      failures.delete(kind);
    } catch (error) {
      if (term.stop.aborted) return;
      failed.add(kind);
      failures.set(kind, error);
    }
  }

  /** Rethrows the error. Stores the message of a FatalError: what an operator has to do before the pass can begin. */
  private async explained({ passed }: Running, kind: Kind, error: unknown): Promise<never> {
    const before = passed.of(kind);
    if (error instanceof FatalError && before?.fault !== error.message)
      await passed.save({ kind, fault: error.message, ...(before?.pass && { pass: before.pass }) });
    throw error;
  }

  private async fewestFirst(kinds: Kind[]): Promise<Kind[]> {
    const counted = kinds.map(async (kind) => {
      if (this.failed.has(kind)) return { kind, count: Infinity };
      // If the count fails, the kind comes last: its pass counts again, and reports the error.
      return { kind, count: await this.estimate(collectionOf(kind)).catch(() => Infinity) };
    });
    const sorted = (await Promise.all(counted)).sort((a, b) => a.count - b.count || 0);
    return sorted.map(({ kind }) => kind);
  }

  private estimate(collection: string): Promise<number> {
    return this.connection.collection(collection).estimatedDocumentCount();
  }

  private async passOver(kind: Kind, term: Led, run: Running): Promise<void> {
    const { stop } = term;
    const { passed } = run;
    const collection = describedKind(kind).collection;
    await this.indexed(collection, stop);
    if (stop.aborted) return;
    const showLife = () => {
      if (stop.aborted) throw new TermOverError();
    };
    const at = placeAfter((await this.workedThrough.now()).at);
    const progress = await this.prepare(kind, collection, passed);
    let reached = at;
    this.begunAt.set(kind, at);
    run.isReading = true;
    await passed.save({ kind, pass: progress });
    await this.pass.run({
      at,
      progress,
      stop,
      term: { ...term, showLife, share: ALL },
      kinds: [kind],
      isOfKind: true,
      save: (pass) => passed.save({ kind, pass }),
      keepUp: async () => {
        showLife();
        const { watched } = await this.progress.readMain();
        if (placeAfter(watched) > reached) reached = placeAfter(watched);
      },
      token: () => tokenAt(reached),
    });
    if (stop.aborted) return;
    const { at: since } = await this.workedThrough.now();
    showLife();
    if ((this.lostAt.get(kind) ?? '') > at) return;
    await passed.save({ kind, since });
    this.log.log(
      `The pass over the records of the kind ${kind} has ended: ${progress.done} records and ledger entries`,
    );
  }

  /** The server continues the builds, which may take hours. The next pass waits for them again. */
  private async indexed(collection: string, stop: AbortSignal): Promise<void> {
    const listening = new AbortController();
    const { signal } = listening;
    await Promise.race([this.indexes.keepOf(collection), once(stop, 'abort', { signal })]).finally(() =>
      listening.abort(),
    );
  }

  private async prepare(kind: Kind, collection: string, passed: PassedKinds): Promise<PassProgress> {
    const isKnown = await this.ledger.knowsKind(kind);
    // Entries that an interrupted pass has learned do not require a repair: no consumer has seen their records.
    const isRepair = passed.of(kind)?.pass?.isRepair ?? isKnown;
    const total = (await this.estimate(collection)) + (isKnown ? await this.estimate(LEDGER) : 0);
    this.log.log(`A pass over the records of the kind ${kind} begins`);
    return { reason: `the kind ${kind}`, isRepair, isBare: !isKnown, started: new Date(), done: 0, total };
  }
}
