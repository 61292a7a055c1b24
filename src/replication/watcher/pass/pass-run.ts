import type { PassProgress, LogPlace, TermAtWork } from '../../progress/index.js';

/** One pass over the share of its term: everything it learns is knowledge of `at`, where its stream was opened. */
export interface PassRun {
  at: LogPlace;
  progress: PassProgress;
  stop: AbortSignal;
  term: TermAtWork;
  /** Stores the progress; throws where the term is over. */
  tell: (progress: PassProgress) => Promise<void>;
  /** Works through what the stream has by now: the log may be shorter than what a pass writes into it. */
  keepUp: () => Promise<void>;
  /** Up to where the stream is worked through. */
  token: () => unknown;
}
