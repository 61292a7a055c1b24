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
  placeBehind,
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
 * The first passes over the records of kinds that operators have created (contract §8). Each runs beside the stream, which
 * follows the collection from the beginning of the term on: what the pass learns counts as knowledge of the place where the
 * log ends when it begins, as in a pass over everything, and later events of the stream override it. Until it has ended,
 * nothing of the kind is shown, so no consumer can have missed a change. Other kinds do not wait for it.
 *
 * A pass that is interrupted begins again in the next term.
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
  /** The last writes of the lease, one after the other. */
  private saving: Promise<void> = Promise.resolve();
  /** The places where the last passes began, and where collections were lost. */
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
   * A kind that was removed meanwhile, or replaced by another of the same name, is forgotten for good: this term does not
   * follow its collection. Throws a TermOverError if another instance leads now.
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

  /** The kinds whose first pass has ended: those that the service works through and shows. */
  ready(): Kind[] {
    return kindNames().filter((kind) => isBuiltIn(kind) || this.entryOf(kind)?.since !== undefined);
  }

  /**
   * The term has its stream, or the place where its stream begins. A pass that begins earlier could read a record that is
   * deleted before the stream is opened: no event would tell of it.
   */
  goOn(): void {
    this.hasStream = true;
  }

  /**
   * The history of the log is lost, so a pass that is running has to begin again, behind the next stream. Resolves when it has
   * stopped.
   */
  async interrupt(): Promise<void> {
    this.hasStream = false;
    this.interruption.abort();
    await this.running;
    this.interruption = new AbortController();
  }

  /**
   * The collection of a kind was dropped, renamed or replaced at a place in the log: what has changed is unknown. A pass that has
   * begun behind that place has seen it. Throws a TermOverError if another instance leads now.
   */
  async lose(kind: Kind, place: LogPlace): Promise<void> {
    const { term } = this;
    if (place > (this.lostAt.get(kind) ?? '')) this.lostAt.set(kind, place);
    const isSeen = (this.begunAt.get(kind) ?? '') > place;
    if (term === undefined || isSeen || this.entryOf(kind)?.since === undefined) return;
    this.log.warn(
      `The collection ${describedKind(kind).collection} of the kind ${kind} was dropped or replaced`,
    );
    const reason = `the collection of the kind ${kind} was dropped or replaced`;
    await this.save(term, { kind, pass: { reason, isRepair: true, started: new Date(), done: 0, total: 0 } });
    this.wake();
  }

  /**
   * A pass for each new kind, those with few records first: a kind that is created begins a new term, so it waits for no long
   * pass. A kind whose pass fails does not keep the others from theirs.
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

  /** Stores what an operator has to do before the pass can begin. Rethrows the error. */
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
        // The pass reports why its records cannot be counted.
        count: await this.estimate(collectionOf(kind)).catch(() => Infinity),
      })),
    );
    return counted.sort((a, b) => (a.count === b.count ? 0 : a.count - b.count)).map(({ kind }) => kind);
  }

  private estimate(collection: string): Promise<number> {
    return this.connection.collection(collection).estimatedDocumentCount();
  }

  /** Waits until a collection is lost: a new kind begins a new term. */
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
    await this.indexes.keepOf(collection);
    const showLife = () => {
      if (stop.aborted) throw new TermOverError();
    };
    const at = placeBehind((await this.workedThrough.now()).at);
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
        if (placeBehind(watched) > reached) reached = placeBehind(watched);
      },
      token: () => tokenAt(reached),
    });
    if (stop.aborted || (this.lostAt.get(kind) ?? '') > at) return;
    const { at: since } = await this.workedThrough.now();
    showLife();
    await this.save(term, { kind, since });
    this.log.log(`The records of the kind ${kind} are known: ${progress.done} records and ledger entries`);
  }

  /** A kind that had its name before may have been read before: whatever changed since then counts as changed. */
  private async prepare(kind: Kind, collection: string): Promise<PassProgress> {
    const isKnown = await this.ledger.knowsKind(kind);
    // What an earlier attempt has learned was shown to no consumer.
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

/** Such a pass is never resumed from its place. */
function withoutPlace({ reached: _reached, ...pass }: PassProgress): PassProgress {
  return pass;
}
