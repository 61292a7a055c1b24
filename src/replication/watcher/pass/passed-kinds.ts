import { describedKind, isKind, type Kind } from '../../../kinds/index.js';
import type { PassedKind, PassProgress, WatchState } from '../../protocol/index.js';
import { TermOverError } from '../../store/index.js';
import type { Lease } from '../lease.js';

/** The entries of the created kinds in the lease, in one term. An abandoned term changes nothing of the next one. */
export class PassedKinds {
  /** Settles when the writes so far have ended. They run one after the other. */
  private saving: Promise<void> = Promise.resolve();

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

  of(kind: Kind): PassedKind | undefined {
    return this.entries.find((one) => one.kind === kind);
  }

  /** Resolves when no write is in progress. */
  async settled(): Promise<void> {
    await this.saving.catch(() => undefined);
  }

  /** Throws a TermOverError if another instance leads now. */
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
      const kinds = [...this.entries.filter((one) => one.kind !== kind), entry];
      if (!(await this.lease.save(this.term, { kinds }))) throw new TermOverError();
      this.entries = kinds;
    });
    await this.saving;
  }
}

function listed(stored: unknown): (PassedKind | null)[] {
  return Array.isArray(stored) ? (stored as (PassedKind | null)[]) : [];
}
