import { ConnectionError } from '../http/connection-error.js';
import { ProblemError } from '../http/problem.js';
import { CommandError, EXIT, type ExitCode } from './exit-codes.js';

/** Answers that pass by themselves, but not within the time that the client waits. */
const AWAY = [429, 502, 503, 504];

/** What a failure is for scripts. */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CommandError) return error.exitCode;
  if (error instanceof ConnectionError) return EXIT.away;
  if (error instanceof ProblemError) return AWAY.includes(error.status) ? EXIT.away : EXIT.refused;
  return EXIT.copy;
}

/** What a failure is for people. */
export function sentenceOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof ProblemError) return `The service answers ${message}`;
  if (error instanceof ConnectionError) return `The service cannot be reached: ${message}`;
  return message;
}
