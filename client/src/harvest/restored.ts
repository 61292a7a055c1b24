import type { HarvestSource, ToldChange } from './source.js';
import { type CopyState, isOf, type NewestTold } from './state.js';

/** The database of the service was restored from an earlier copy, and lacks changes that this copy received. */
export class SourceRestoredError extends Error {
  override readonly name = 'SourceRestoredError';

  constructor(options?: ErrorOptions) {
    super(
      'The database of the service was restored from an earlier copy: it lacks changes that this copy received. ' +
        'A new start makes the copy equal again, and removes them from it.',
      options,
    );
  }
}

/**
 * The newest changes that the copy received before a harvest. The source still returns each of them, or a later one of the same
 * record, unless it was restored from an earlier copy.
 */
export class LastTold {
  /** The newest first, without those whose records the harvest returns. */
  private left: NewestTold[];

  constructor({ newest = [] }: Pick<CopyState, 'newest'>) {
    this.left = newest;
  }

  /** To be called with all changes of the harvest. */
  see(changes: ToldChange[]): void {
    this.left = this.left.filter((one) => !changes.some((change) => isOf(one, change)));
  }

  /**
   * Whether the source does not have the newest of them any more. Usually one page of one item tells; where its stamp is no longer
   * there, the record has changed since, and must be among all that changed. False where `signal` is aborted: what was harvested is
   * whole, and the next harvest looks again.
   */
  async isForgotten(source: HarvestSource, signal?: AbortSignal): Promise<boolean> {
    const [newest] = this.left;
    if (newest === undefined) return false;
    const { lastupdated } = newest;
    const from = new Date(Date.parse(lastupdated) - 1).toISOString();
    const asked = { from, ...(signal && { signal }) };
    try {
      for await (const { result } of source.pages({ ...asked, to: lastupdated, limit: 1 })) {
        if (result.length > 0) return false;
        break;
      }
      let reached = '';
      for await (const { result, to } of source.pages(asked)) {
        if (result.some((change) => isOf(newest, change))) return false;
        reached = to;
      }
      return reached >= lastupdated;
    } catch (error) {
      if (source.isHistoryExpired(error)) return false;
      if (source.isSourceRestored(error)) return true;
      if (signal?.aborted === true) return false;
      throw error;
    }
  }
}
