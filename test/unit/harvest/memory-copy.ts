import type {
  AppliedPage,
  CopyState,
  CopyStore,
  HeldRecord,
  Mended,
} from '../../../client/src/harvest/index.js';
import { decide } from '../../../client/src/stores/decide.js';
import { gone } from './changes.js';

interface HeldHere {
  lastupdated: string;
  generation: number;
}

/** A record does not fit. */
export class UnfitError extends Error {}

/** A copy that lives as long as the test; what is killed in between is whoever writes to it. */
export class MemoryCopy implements CopyStore {
  readonly records = new Map<string, HeldHere>();
  /** Ids of records that it cannot hold. */
  readonly refused = new Set<string>();
  /** Ids of records that it cannot remove once it holds them, or that no store can look for. */
  readonly kept = new Set<string>();
  /** How often all that is held was asked for. */
  walks = 0;
  private stored: CopyState | undefined;
  /** Called before each write: may throw, as a process that is killed. */
  before: (step: 'apply' | 'sweep', page?: AppliedPage) => void = () => undefined;

  state(): Promise<CopyState | undefined> {
    return Promise.resolve(this.stored);
  }

  newestGeneration(): Promise<number | undefined> {
    const generations = [...this.records.values()].map(({ generation }) => generation);
    return Promise.resolve(generations.length === 0 ? undefined : Math.max(...generations));
  }

  async apply(page: AppliedPage): Promise<void> {
    await Promise.resolve();
    this.before('apply', page);
    const { changes, state } = page;
    const stamps = new Map([...this.records].map(([id, { lastupdated }]) => [id, lastupdated]));
    const { upserts, marked, removed } = decide(changes, stamps);
    this.assertFits(upserts);
    this.assertGoes(changes.flatMap(({ op, id }) => (op === 'delete' ? [id] : [])));
    for (const id of marked) this.records.get(id)!.generation = state.generation;
    this.write({ upserts, removed, state });
  }

  async sweep(state: CopyState): Promise<number> {
    await Promise.resolve();
    this.before('sweep');
    const old = [...this.records].filter(([, { generation }]) => generation < state.generation);
    this.assertGoes(old.map(([id]) => id));
    for (const [id] of old) this.records.delete(id);
    this.stored = state;
    return old.length;
  }

  has(id: string): Promise<boolean> {
    return Promise.resolve(this.records.has(id));
  }

  async *held(): AsyncIterable<HeldRecord[]> {
    this.walks += 1;
    yield await Promise.resolve(Array.from(this.records, ([id, held]) => ({ id, ...held })));
  }

  isUnfit(error: unknown): boolean {
    return error instanceof UnfitError;
  }

  async mend(mended: Mended): Promise<void> {
    await Promise.resolve();
    const { upserts, removed, state } = mended;
    const deletes = removed.map((id) => gone(id, ''));
    this.before('apply', { changes: [...upserts, ...deletes], state });
    this.write(mended);
  }

  private write({ upserts, removed, state }: Mended): void {
    this.assertFits(upserts);
    this.assertGoes(removed);
    for (const id of removed) this.records.delete(id);
    for (const { id, lastupdated } of upserts)
      this.records.set(id, { lastupdated, generation: state.generation });
    this.stored = state;
  }

  private assertFits(upserts: { id: string }[]): void {
    const unfit = upserts.find(({ id }) => this.refused.has(id));
    if (unfit !== undefined) throw new UnfitError(`No room for ${unfit.id}`);
  }

  private assertGoes(ids: string[]): void {
    const kept = ids.find((id) => this.kept.has(id));
    if (kept !== undefined) throw new UnfitError(`${kept} stays`);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
