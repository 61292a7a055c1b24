import { isDatabaseAway, isRetryable } from '../../database/index.js';
import { TermOverError } from '../progress/index.js';

/** Whether a failure has nothing to do with what was worked on: the database is away, or the term is over. */
export function mayPass(error: unknown): boolean {
  return isDatabaseAway(error) || isRetryable(error) || error instanceof TermOverError;
}
