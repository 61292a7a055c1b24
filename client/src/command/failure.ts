import { SourceRestoredError } from '../harvest/index.js';
import { ConnectionError, messageIn, TooLongError } from '../http/connection-error.js';
import { ProblemError } from '../http/problem.js';
import { isTransient } from '../http/repeatable.js';
import { CommandError, EXIT, type ExitCode } from './exit-codes.js';
import { visible, visibleJson } from './visible.js';

const UNAUTHORIZED = 401;
const WRONG_LOGIN =
  'The service answers 401 unauthorized: the user name or the password is wrong, or the credential is disabled or has ' +
  'expired. ' +
  'Check TIDEMARK_USERNAME and TIDEMARK_PASSWORD, or --username and --password-stdin.';

/** What a failure is for scripts. */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CommandError) return error.exitCode;
  if (error instanceof SourceRestoredError) return EXIT.restored;
  if (error instanceof TooLongError) return EXIT.usage;
  if (isTransient(error)) return EXIT.away;
  return error instanceof ProblemError ? EXIT.refused : EXIT.copy;
}

/** What a failure is for people. */
export function sentenceOf(error: unknown): string {
  const message = messageIn(error);
  if (error instanceof SourceRestoredError) return `${message} Run it once with --start-over.`;
  if (error instanceof ProblemError && error.status === UNAUTHORIZED) return WRONG_LOGIN;
  if (error instanceof ProblemError) return `The service answers ${message}`;
  if (error instanceof ConnectionError && !(error instanceof TooLongError))
    return `The service cannot be reached: ${message}`;
  return message;
}

/** The line on stderr about a failure. */
export function failureLine(error: { message: string; exitCode: ExitCode }, isForMachines: boolean): string {
  return isForMachines ? `${visibleJson({ error })}\n` : `tidemark-harvest: ${visible(error.message)}\n`;
}
