/** The service or command cannot go on, and its operator can do something about it: one clear message, exit code 1. */
export class FatalError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'FatalError';
  }
}
