import { ConnectionError } from '../http/connection-error.js';
import { ProblemError } from '../http/problem.js';
import { isTransient } from '../http/repeatable.js';
import type { Kind } from '../shapes.js';
import type { Tidemark } from '../tidemark.js';
import { BUCKETS } from './digest-sums.js';
import type { HarvestSource, ToldChange, ToldPage } from './source.js';

/** Which feed a copy is made of. */
export interface HarvestedFeed {
  org: string;
  app: string;
  kind: Kind;
  service: string;
}

/** A feed of a service as the source of a harvest. `tidemark` is the client of the same application. */
export function sourceOf(tidemark: Tidemark, { org, app, kind, service }: HarvestedFeed): HarvestSource {
  return {
    feed: [org, app, kind, service].join('/'),
    pages: (from) => wholePages(tidemark.changes(kind, service, from).pages()),
    digest: (asked) => tidemark.digest(kind, service, { buckets: BUCKETS, ...asked }),
    updates: (within) => tidemark.updates(kind, service, within),
    events: (signal) => tidemark.events(kind, { signal }),
    isHistoryExpired: (error) => error instanceof ProblemError && error.slug === 'history-expired',
    isSourceRestored: (error) => error instanceof ProblemError && error.slug === 'source-restored',
    isPassing: isTransient,
  };
}

/** A change that is not understood would be lost in silence: the cursor moves behind it. */
async function* wholePages(pages: AsyncIterable<ToldPage>): AsyncGenerator<ToldPage, void> {
  for await (const page of pages) {
    if (!page.result.every(isChange))
      throw new ConnectionError('The answer is no page of changes: an item lacks op, id or lastupdated.');
    yield page;
  }
}

function isChange(item: Partial<ToldChange> | null): boolean {
  const { op, id, lastupdated } = item ?? {};
  return (op === 'upsert' || op === 'delete') && typeof id === 'string' && typeof lastupdated === 'string';
}
