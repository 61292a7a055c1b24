import type { ToldUpsert } from './source.js';
import type { CopyState } from './state.js';
import type { CopyStore, HeldStamp, Mended } from './store.js';
import { MOST_UNFIT, unfitRecord, withUnfit } from './unfit.js';

/** Writes and removes what the store takes, whatever it holds, and notes what it refuses. */
export class Mending {
  /** How many records were removed. */
  removed = 0;

  constructor(
    private readonly store: CopyStore,
    public state: CopyState,
  ) {}

  put(upserts: ToldUpsert[]): Promise<void> {
    return this.mend(upserts, (some) => ({ upserts: some, removed: [] }));
  }

  remove(held: HeldStamp[]): Promise<void> {
    return this.mend(held, (some) => ({ upserts: [], removed: some.map(({ id }) => id) }));
  }

  /** Stores the notes as they are now. */
  async keepNotes(): Promise<void> {
    await this.store.mend({ upserts: [], removed: [], state: this.state });
  }

  /** Of several that the store refuses, each half is tried by itself. */
  private async mend<T extends HeldStamp>(
    items: T[],
    effect: (some: T[]) => Omit<Mended, 'state'>,
  ): Promise<void> {
    const mended = withUnfit(this.state, items);
    const wanted = effect(items);
    try {
      await this.store.mend({ ...wanted, state: mended });
      this.state = mended;
      this.removed += wanted.removed.length;
    } catch (error) {
      if (!this.store.isUnfit(error)) throw error;
      const half = Math.ceil(items.length / 2);
      if (items.length === 1) return this.note(items[0]!, error, wanted.upserts.length === 0);
      await this.mend(items.slice(0, half), effect);
      await this.mend(items.slice(half), effect);
    }
  }

  private async note(refused: HeldStamp, error: unknown, isRemoval: boolean): Promise<void> {
    const { generation, unfit = [] } = this.state;
    if (unfit.length >= MOST_UNFIT) throw error;
    const record = unfitRecord(refused, error, { generation, isRemoval });
    this.state = withUnfit(this.state, [refused], [record]);
    await this.keepNotes();
  }
}
