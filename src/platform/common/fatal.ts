/**
 * The service, a command or a piece of work cannot continue, and an operator can fix the cause. At the start and in a
 * command, this results in one clear message and exit code 1.
 */
export class FatalError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'FatalError';
  }
}

/** The command line is wrong. Programs whose contract distinguishes such errors use exit code 2 for them. */
export class UsageError extends FatalError {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}
