import { ConnectionError, TooLongError } from './connection-error.js';
import { ProblemError } from './problem.js';

/** The service is away or busy for a while, or what stands in front of it does not reach it. */
const TRANSIENT = [408, 429, 502, 503, 504];

/** Whether a read may have another answer the next time. */
export function isTransient(error: unknown): boolean {
  if (error instanceof ProblemError) return TRANSIENT.includes(error.status);
  return error instanceof ConnectionError && !(error instanceof TooLongError);
}

/** Whether a write was refused before anybody looked at it: only then may it be sent again without a second effect. */
export function isRefusedUnseen(error: unknown): boolean {
  return error instanceof ProblemError && (error.status === 429 || error.slug === 'busy');
}
