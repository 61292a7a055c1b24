import { Injectable, Logger } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection } from 'mongoose';
import { FatalError } from '../../../platform/common/index.js';
import { IndexKeeper } from '../../../platform/database/index.js';
import {
  collectionOf,
  describedKind,
  isBuiltIn,
  isKind,
  type Kind,
  kindNames,
} from '../../../kinds/index.js';
import {
  ALL,
  type LogPlace,
  type PassedKind,
  type PassProgress,
  placeAfter,
  tokenAt,
  type WatchState,
} from '../../protocol/index.js';
import {
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

/** The part of a term that these passes need. */
interface Led extends TermAtWork {
  state: Pick<WatchState, 'term' | 'kinds'>;
  stop: AbortSignal;
}

/** How long the job waits if the term has no stream yet (milliseconds). */
const SOON_MS = 50;

/**
 * The passes over the records of kinds that operators have created (contract §8): the first one of each kind, and one
 * after its collection was dropped, renamed or replaced. A pass runs beside the stream, which follows the collection
 * from the beginning of the term on. What the pass learns is recorded as of the end of the log when the pass began, so
 * later events of the stream override it. Until the pass has ended, nothing of the kind is shown, so no consumer can
 * miss a change. Other kinds do not wait for it.
 *
 * A pass that is interrupted begins again from its start.
 */
@Injectable()
export class KindPasses implements Job {
  readonly name = 'The pass over a new kind';
  private readonly log = new Logger('Watcher');
  private term: Led | undefined;
  private entries: PassedKind[] = [];
  private running: Promise<unknown> = Promise.resolve();
  private interruption = new AbortController();
  private hasStream = false;
  private wake: () => void = () => undefined;
  /** Settles when the writes of the lease so far have ended. They run one after the other. */
  private saving: Promise<void> = Promise.resolve();
  /** For each kind, the place in the log at which its last pass began. */
  private readonly begunAt = new Map<Kind, LogPlace>();
  /** For each kind, the latest place in the log at which its collection was lost. */
  private readonly lostAt = new Map<Kind, LogPlace>();

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly pass: Pass,
    private readonly ledger: Ledger,
    private readonly indexes: IndexKeeper,
    private readonly lease: Lease,
    private readonly workedThrough: WorkedThrough,
    private readonly progress: ProgressReader,
  ) {}

  /**
   * Loads the entries of the kinds from the lease, and removes those whose kind was removed or was replaced by another
   * of the same name, because this term does not follow their collections. Throws a TermOverError if another instance
   * leads now.
   */
  async beginTerm(term: Led): Promise<void> {
    this.term = term;
    this.hasStream = false;
    this.saving = Promise.resolve();
    const stored: unknown = term.state.kinds;
    const list = Array.isArray(stored) ? (stored as (PassedKind | null)[]) : [];
    this.entries = list.flatMap((one) =>
      isKind(one?.kind) && describedKind(one.kind).document === one.document ? [one] : [],
    );
    const { entries: kinds } = this;
    if (kinds.length < list.length && !(await this.lease.save(term.state.term, { kinds })))
      throw new TermOverError();
  }

  /** The built-in kinds, and the created ones whose first pass has ended: other passes and the audit cover these. */
  ready(): Kind[] {
    return kindNames().filter((kind) => isBuiltIn(kind) || this.entryOf(kind)?.since !== undefined);
  }

  /**
   * Allows passes to begin. Call it once the term has opened its stream, or knows the place in the log from which it
   * will open the stream. A pass that began earlier could read a record that is deleted before the stream is opened,
   * and no event would report that delete.
   */
  goOn(): void {
    this.hasStream = true;
  }

  /**
   * Stops a running pass, because the history of the log is lost: the pass has to begin again once the next stream is
   * open. Resolves when the pass has stopped.
   */
  async interrupt(): Promise<void> {
    this.hasStream = false;
    this.interruption.abort();
    await this.running;
    this.interruption = new AbortController();
  }

  /**
   * The collection of a kind was dropped, renamed or replaced at a place in the log. What has changed is unknown, so a
   * new pass follows, unless the last one began after that place. Throws a TermOverError if another instance leads now.
   */
  async lose(kind: Kind, place: LogPlace): Promise<void> {
    const { term } = this;
    if (place > (this.lostAt.get(kind) ?? '')) this.lostAt.set(kind, place);
    const isSeen = (this.begunAt.get(kind) ?? '') > place;
    if (term === undefined || isSeen) return;
    // The end of a pass that did not see the loss may be in the course of being stored.
    await this.saving.catch(() => undefined);
    if (this.entryOf(kind)?.since === undefined) return;
    this.log.warn(
      `The collection ${describedKind(kind).collection} of the kind ${kind} was dropped or replaced`,
    );
    const reason = `the collection of the kind ${kind} was dropped or replaced`;
    await this.save(term, { kind, pass: { reason, isRepair: true, started: new Date(), done: 0, total: 0 } });
    this.wake();
  }

  /**
   * Runs a pass for each kind that needs one, those with the fewest records first. A kind that is created begins a new
   * term, so it does not wait for a long pass that is running. If the pass over one kind fails, the others still run.
   */
  async step(stop: AbortSignal): Promise<number> {
    const { term } = this;
    const due = kindNames().filter((kind) => !this.ready().includes(kind));
    if (term === undefined || due.length === 0) return this.rest(stop);
    if (!this.hasStream) return SOON_MS;
    const over = AbortSignal.any([stop, this.interruption.signal]);
    const failures: unknown[] = [];
    for (const kind of await this.fewestFirst(due)) {
      const run = this.passOver(kind, { ...term, stop: over })
        .catch((error: unknown) => this.explained(term, kind, error))
        .catch((error: unknown) => failures.push(error));
      this.running = run;
      await run;
      if (over.aborted) return 0;
    }
    if (failures.length > 0) throw failures[0];
    return 0;
  }

  /**
   * If the error is a FatalError, stores its message, which says what an operator has to do before the pass can begin.
   * Rethrows the error.
   */
  private async explained(term: Led, kind: Kind, error: unknown): Promise<never> {
    const before = this.entryOf(kind);
    if (error instanceof FatalError && before?.fault !== error.message)
      await this.save(term, { kind, fault: error.message, ...(before?.pass && { pass: before.pass }) });
    throw error;
  }

  private async fewestFirst(kinds: Kind[]): Promise<Kind[]> {
    const counted = await Promise.all(
      kinds.map(async (kind) => ({
        kind,
        // If the count fails, the kind comes last: its pass counts again, and reports the error.
        count: await this.estimate(collectionOf(kind)).catch(() => Infinity),
      })),
    );
    return counted.sort((a, b) => (a.count === b.count ? 0 : a.count - b.count)).map(({ kind }) => kind);
  }

  private estimate(collection: string): Promise<number> {
    return this.connection.collection(collection).estimatedDocumentCount();
  }

  /**
   * Waits until the collection of a created kind is lost, or until `stop` is aborted. A new kind begins a new term, so
   * nothing else can require a pass.
   */
  private rest(stop: AbortSignal): Promise<number> {
    return new Promise((resolve) => {
      this.wake = () => resolve(0);
      stop.addEventListener('abort', this.wake, { once: true });
      if (stop.aborted) resolve(0);
    });
  }

  private async passOver(kind: Kind, term: Led): Promise<void> {
    const { stop } = term;
    const collection = describedKind(kind).collection;
    // The server goes on with the builds, which may take hours. The next pass waits for them again.
    await Promise.race([this.indexes.keepOf(collection), abortionOf(stop)]);
    if (stop.aborted) return;
    const showLife = () => {
      if (stop.aborted) throw new TermOverError();
    };
    const at = placeAfter((await this.workedThrough.now()).at);
    const progress = await this.prepare(kind, collection);
    let reached = at;
    this.begunAt.set(kind, at);
    await this.save(term, { kind, pass: progress });
    await this.pass.run({
      at,
      progress,
      stop,
      term: { ...term, showLife, share: ALL },
      kinds: [kind],
      isOfKind: true,
      save: (pass) => this.save(term, { kind, pass }),
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
    await this.save(term, { kind, since });
    this.log.log(`The records of the kind ${kind} are known: ${progress.done} records and ledger entries`);
  }

  /** If a kind of this name existed before, consumers may have read its records, so the pass re-stamps all of them. */
  private async prepare(kind: Kind, collection: string): Promise<PassProgress> {
    const isKnown = await this.ledger.knowsKind(kind);
    // Entries that an interrupted pass has learned do not require a repair: no consumer has seen their records.
    const isRepair = this.entryOf(kind)?.pass?.isRepair ?? isKnown;
    const counted = [collection, ...(isKnown ? [LEDGER] : [])];
    const counts = await Promise.all(counted.map((name) => this.estimate(name)));
    const total = counts.reduce((sum, count) => sum + count, 0);
    this.log.log(`A pass over the records of the kind ${kind} begins`);
    return { reason: `the kind ${kind}`, isRepair, isBare: !isKnown, started: new Date(), done: 0, total };
  }

  /** Throws a TermOverError if another instance leads now. */
  private async save(
    { state }: Led,
    { kind, since, pass, fault }: Omit<PassedKind, 'document'>,
  ): Promise<void> {
    const document = describedKind(kind).document ?? '';
    const entry: PassedKind = {
      kind,
      document,
      ...(since && { since }),
      ...(pass && { pass: withoutPlace(pass) }),
      ...(fault !== undefined && { fault }),
    };
    this.saving = this.saving
      .catch(() => undefined)
      .then(async () => {
        const kinds = [...this.entries.filter((one) => one.kind !== kind), entry];
        if (!(await this.lease.save(state.term, { kinds }))) throw new TermOverError();
        this.entries = kinds;
      });
    await this.saving;
  }

  private entryOf(kind: Kind): PassedKind | undefined {
    return this.entries.find((one) => one.kind === kind);
  }
}

/** The pass over a kind is never resumed from a place. */
function withoutPlace({ reached: _reached, ...pass }: PassProgress): PassProgress {
  return pass;
}

/** Resolves once the signal is aborted. */
function abortionOf(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
