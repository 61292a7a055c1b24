import { once } from 'node:events';
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
  private entries: PassedKind[] = [];
  /** Of this term: the running passes, the errors of those that have ended, and the kinds whose last pass has failed. */
  private running = new Map<Kind, Promise<void>>();
  private failures: unknown[] = [];
  private failed = new Set<Kind>();
  private interruption = new AbortController();
  private hasStream = false;
  private wake: () => void = () => undefined;
  /** Settles when the writes of the lease so far have ended. They run one after the other. */
  private saving: Promise<void> = Promise.resolve();
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
    this.running = new Map();
    this.failures = [];
    this.failed = new Set();
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
   * The kinds that a pass over one application has to cover: those of {@link ready}, and those whose pass has begun. That pass
   * may have read records of the application before the application's own stream was opened, and no stream reports
   * what changed in between. Call it once that stream is open.
   */
  begun(): Kind[] {
    return kindNames().filter((kind) => this.ready().includes(kind) || this.begunAt.has(kind));
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
   * open. Resolves when they have stopped.
   */
  async interrupt(): Promise<void> {
    const { interruption } = this;
    this.hasStream = false;
    this.interruption = new AbortController();
    interruption.abort();
    await Promise.all(this.running.values());
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
    const reason = `the collection of the kind ${kind} was dropped or replaced`;
    this.log.warn(`A pass is due, because ${reason}: ${describedKind(kind).collection}`);
    await this.save(term, { kind, pass: { reason, isRepair: true, started: new Date(), done: 0, total: 0 } });
    this.wake();
  }

  /**
   * Begins passes over the kinds that need one, those with the fewest records first, and waits until one ends or another
   * kind needs one. A kind whose collection is replaced does not wait for a long pass over another kind. Throws the error of a
   * pass that has failed; the others go on.
   */
  async step(stop: AbortSignal): Promise<number> {
    let wake = (): void => undefined;
    const woken = new Promise<void>((resolve) => (wake = resolve));
    this.wake = wake;
    const { term, running, failures } = this;
    const ready = this.ready();
    const due = kindNames().filter((kind) => !ready.includes(kind) && !running.has(kind));
    if (term !== undefined && due.length > 0 && this.hasStream)
      await this.begin(due, term, AbortSignal.any([stop, this.interruption.signal]));
    stop.addEventListener('abort', wake, { once: true });
    if (!stop.aborted) await Promise.race([woken, ...running.values()]);
    stop.removeEventListener('abort', wake);
    if (stop.aborted) await Promise.all(running.values());
    if (failures.length > 0) throw failures.shift();
    return 0;
  }

  private async begin(due: Kind[], term: Led, stop: AbortSignal): Promise<void> {
    const { running, failures, failed } = this;
    for (const kind of await this.fewestFirst(due)) {
      if (stop.aborted || running.size >= MOST_AT_ONCE) return;
      const run = this.passOver(kind, { ...term, stop })
        .then(() => failed.delete(kind))
        .catch((error: unknown) => this.explained(term, kind, error))
        .catch((error: unknown) => {
          failed.add(kind);
          failures.push(error);
        });
      running.set(
        kind,
        run.then(() => void running.delete(kind)),
      );
    }
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

  private async passOver(kind: Kind, term: Led): Promise<void> {
    const { stop } = term;
    const collection = describedKind(kind).collection;
    // The server goes on with the builds, which may take hours. The next pass waits for them again.
    await Promise.race([this.indexes.keepOf(collection), once(stop, 'abort')]);
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
    // This pass is never resumed from a place.
    const { reached: _reached, ...placeless } = pass ?? ({} as PassProgress);
    const entry: PassedKind = {
      kind,
      document: describedKind(kind).document ?? '',
      ...(since && { since }),
      ...(pass && { pass: placeless }),
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
