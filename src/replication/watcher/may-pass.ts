import { isDatabaseAway, isRetryable } from '../../database/index.js';
import { HistoryLostError } from '../log/index.js';
import { TermOverError } from '../progress/index.js';

/** Whether a failure is not one of what was worked on alone: the database is away, the term is over, or history is lost. */
export function mayPass(error: unknown): boolean {
  return (
    isDatabaseAway(error) ||
    isRetryable(error) ||
    error instanceof TermOverError ||
    error instanceof HistoryLostError
  );
}
