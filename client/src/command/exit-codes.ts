/** How the command ends, for scripts. `--help` lists them. */
export const EXIT = {
  done: 0,
  different: 1,
  usage: 2,
  refused: 3,
  away: 4,
  copy: 5,
  unfit: 6,
  restored: 7,
  unwritten: 8,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** What ends the command with a sentence for people and a code for scripts. */
export class CommandError extends Error {
  override readonly name = 'CommandError';

  constructor(
    readonly exitCode: ExitCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export function usageError(message: string): CommandError {
  return new CommandError(EXIT.usage, `${message} See tidemark-harvest --help.`);
}
