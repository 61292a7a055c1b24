import type {
  AppliedPage,
  CopyState,
  CopyStore,
  HeldStamp,
  Mended,
} from '../../../client/src/harvest/index.js';
import { decide } from '../../../client/src/stores/decide.js';

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
    for (const id of marked) this.records.get(id)!.generation = state.generation;
    await this.mend({ upserts, removed, state });
  }

  async sweep(state: CopyState): Promise<void> {
    await Promise.resolve();
    this.before('sweep');
    for (const [id, { generation }] of this.records)
      if (generation < state.generation) this.records.delete(id);
    this.stored = state;
  }

  async *held(): AsyncIterable<HeldStamp[]> {
    yield await Promise.resolve([...this.records].map(([id, { lastupdated }]) => ({ id, lastupdated })));
  }

  isUnfit(error: unknown): boolean {
    return error instanceof UnfitError;
  }

  async mend({ upserts, removed, state }: Mended): Promise<void> {
    await Promise.resolve();
    this.assertFits(upserts);
    for (const id of removed) this.records.delete(id);
    for (const { id, lastupdated } of upserts)
      this.records.set(id, { lastupdated, generation: state.generation });
    this.stored = state;
  }

  private assertFits(upserts: { id: string }[]): void {
    const unfit = upserts.find(({ id }) => this.refused.has(id));
    if (unfit !== undefined) throw new UnfitError(`No room for ${unfit.id}`);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
