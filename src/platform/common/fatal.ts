/**
 * The service or command cannot continue, and its operator can fix the cause. Results in one clear message and exit
 * code 1.
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
