import { ConnectionError } from '../http/connection-error.js';
import { ProblemError } from '../http/problem.js';
import type { Kind } from '../shapes.js';
import type { Tidemark } from '../tidemark.js';
import { BUCKETS } from './digest-sums.js';
import type { HarvestSource } from './source.js';

/** Which feed a copy is made of. */
export interface HarvestedFeed {
  org: string;
  app: string;
  kind: Kind;
  service: string;
}

/** Answers of a service, or of something in front of it, that passes by itself. */
const PASSING = [429, 502, 503, 504];

/** A feed of a service as the source of a harvest. `tidemark` is the client of the same application. */
export function sourceOf(tidemark: Tidemark, { org, app, kind, service }: HarvestedFeed): HarvestSource {
  return {
    feed: [org, app, kind, service].join('/'),
    pages: (from) => tidemark.changes(kind, service, from).pages(),
    digest: (asked) => tidemark.digest(kind, service, { buckets: BUCKETS, ...asked }),
    updates: (within) => tidemark.updates(kind, service, within),
    events: (signal) => tidemark.events(kind, { signal }),
    isHistoryExpired: (error) => error instanceof ProblemError && error.slug === 'history-expired',
    isPassing: (error) =>
      error instanceof ConnectionError || (error instanceof ProblemError && PASSING.includes(error.status)),
  };
}
