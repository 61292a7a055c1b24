/** The service or command cannot go on, and its operator can do something about it: one clear message, exit code 1. */
export class FatalError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'FatalError';
  }
}

/** What the operating system says of a file that cannot be read, in words. */
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
