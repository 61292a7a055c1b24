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

/** The command line is wrong. Programs whose contract distinguishes this exit with 2. */
export class UsageError extends FatalError {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

/** The operating system's error codes for unreadable files, in words. */
const WORDS: Record<string, string> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EACCES: 'its permissions do not allow it',
  EPERM: 'its permissions do not allow it',
  EISDIR: 'it is a directory',
};

/** Why a file cannot be read, in a few words. */
export function fileTrouble({ code = '', message }: NodeJS.ErrnoException): string {
  return WORDS[code] ?? message;
}
