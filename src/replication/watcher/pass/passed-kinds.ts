import { describedKind, isBuiltIn, isKind, type Kind, kindNames } from '../../../kinds/index.js';
import type { PassedKind, PassProgress, WatchState } from '../../protocol/index.js';
import { TermOverError } from '../../store/index.js';
import type { Lease } from '../lease.js';

/** The entries of the created kinds in the lease, in one term. An abandoned term changes nothing of the next one. */
export class PassedKinds {
  /** Settles when the writes so far have ended. They run one after the other. */
  private saving: Promise<void> = Promise.resolve();
  private failure: { error: unknown } | undefined;

  private constructor(
    private readonly lease: Pick<Lease, 'save'>,
    private readonly term: number,
    private entries: PassedKind[],
  ) {}

  /** Before the first term. */
  static none(lease: Pick<Lease, 'save'>): PassedKinds {
    return new PassedKinds(lease, 0, []);
  }

  /** Loads the entries. Leaves out those whose kind was removed, or was replaced by another of the same name. */
  static in(lease: Pick<Lease, 'save'>, { term, kinds }: Pick<WatchState, 'term' | 'kinds'>): PassedKinds {
    return new PassedKinds(
      lease,
      term,
      listed(kinds).flatMap((one) =>
        isKind(one?.kind) && describedKind(one.kind).document === one.document ? [one] : [],
      ),
    );
  }

  /** Removes the entries that {@link in} left out. Throws a TermOverError if another instance leads now. */
  async removeOthers({ kinds: stored }: Pick<WatchState, 'kinds'>): Promise<void> {
    const { entries: kinds } = this;
    if (kinds.length < listed(stored).length && !(await this.lease.save(this.term, { kinds })))
      throw new TermOverError();
  }

  /**
   * Adds an entry for each kind that has none, or only the fault that an earlier version stored before the pass was due. If a
   * kind of this name existed before, consumers may have read its records, so its pass repairs. That is determined before
   * the stream of the first term of the kind begins: what the stream learns while the pass waits for the indexes, no
   * consumer has seen.
   */
  async addNew(existedBefore: (kind: Kind) => Promise<boolean>, showLife: () => void): Promise<void> {
    const isNew = ({ since, pass }: Partial<PassedKind> = {}) => since === undefined && pass === undefined;
    for (const kind of kindNames().filter((one) => !isBuiltIn(one) && isNew(this.of(one)))) {
      await this.save({ kind, pass: duePass(`the kind ${kind}`, await existedBefore(kind)) });
      // The search for entries of several kinds may take longer than a term may be silent.
      showLife();
    }
  }

  of(kind: Kind): PassedKind | undefined {
    return this.entries.find((one) => one.kind === kind);
  }

  /** Resolves when no write is in progress. */
  async settled(): Promise<void> {
    await this.saving.catch(() => undefined);
  }

  /** Throws the error of a write that has failed: it may still be applied later, so the term has to end. */
  assertWell(): void {
    if (this.failure !== undefined) throw this.failure.error;
  }

  /** Throws a TermOverError if another instance leads now, and the error of an earlier write that has failed. */
  async save({ kind, since, pass, fault }: Omit<PassedKind, 'document'>): Promise<void> {
    // This pass is never resumed from a place.
    const { reached: _reached, ...placeless } = pass ?? ({} as PassProgress);
    const entry: PassedKind = {
      kind,
      document: describedKind(kind).document ?? '',
      ...(since && { since }),
      ...(pass && { pass: placeless }),
      ...(fault !== undefined && { fault }),
    };
    this.saving = this.settled().then(async () => {
      this.assertWell();
      const kinds = [...this.entries.filter((one) => one.kind !== kind), entry];
      const isSaved = await this.lease.save(this.term, { kinds }).catch((error: unknown) => {
        this.failure = { error };
        throw error;
      });
      if (!isSaved) throw new TermOverError();
      this.entries = kinds;
    });
    await this.saving;
  }
}

/** A pass that has not begun. */
export function duePass(reason: string, isRepair: boolean): PassProgress {
  return { reason, isRepair, started: new Date(), done: 0, total: 0 };
}

function listed(stored: unknown): (PassedKind | null)[] {
  return Array.isArray(stored) ? (stored as (PassedKind | null)[]) : [];
}
