import type { HarvestSource, ToldChange, ToldDigest, ToldPage } from '../../client/src/harvest/index.js';

/** Tells one page at each harvest. */
export class OnePage implements HarvestSource {
  constructor(
    readonly feed: string,
    public page: ToldChange[],
  ) {}

  async *pages(): AsyncIterable<ToldPage> {
    yield await Promise.resolve({ result: this.page, to: '2026-01-03T00:00:00.000Z', cursor: 'next' });
  }

  digest(): Promise<ToldDigest> {
    return Promise.reject(new Error('no digest'));
  }

  updates(): AsyncIterable<never> {
    throw new Error('no updates');
  }

  events(): AsyncIterable<never> {
    throw new Error('no events');
  }

  isHistoryExpired(): boolean {
    return false;
  }

  isSourceRestored(): boolean {
    return false;
  }

  isPassing(): boolean {
    return false;
  }
}
