import type { Place } from '../ledger/index.js';
import type { PassProgress } from '../mark/index.js';

/** One pass: everything it learns is knowledge of `at`, where its stream was opened. */
export interface Run {
  at: Place;
  progress: PassProgress;
  stop: AbortSignal;
  /** Stores the progress; throws where the term is over. */
  tell: (progress: PassProgress) => Promise<void>;
  /** Works through what the stream has by now: the log may be shorter than what a pass writes into it. */
  keepUp: () => Promise<void>;
  /** Up to where the stream is worked through. */
  token: () => unknown;
}
