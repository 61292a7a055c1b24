import { Readable } from 'node:stream';
import { runCommandLine } from '../../src/administration/cli/index.js';
import { readSettings } from '../../src/platform/config/index.js';

/** What a command came to. */
export interface Said {
  code: 0 | 1 | 2 | 3;
  /** stdout. */
  output: string;
  /** stderr, line by line. */
  errors: string[];
}

/** What the console is: a terminal of so many columns, with colours or without; otherwise pipes. */
export interface ConsoleLooks {
  columns?: number;
  colours?: boolean;
}

export interface TypedInput {
  /** What comes on stdin. */
  input?: string | Iterable<string>;
  interrupted?: AbortSignal;
}

/** A console of an operator who works on one database. */
export class AdminConsole {
  constructor(
    private readonly uri: string,
    private readonly looks: ConsoleLooks = {},
  ) {}

  /** Runs a command: its words apart by blanks, or one by one. */
  async run(words: string | string[], { input = '', interrupted }: TypedInput = {}): Promise<Said> {
    const { columns, colours = false } = this.looks;
    const output: string[] = [];
    const errors: string[] = [];
    const pieces = typeof input === 'string' ? [input] : input;
    const code = await runCommandLine(
      typeof words === 'string' ? words.trim().split(/ +/) : words,
      () => Promise.resolve(() => readSettings({ MONGODB_URI: this.uri })),
      {
        input: Readable.from(bytes(pieces)),
        output: { write: (text: string) => output.push(text), isTTY: columns !== undefined, columns },
        errors: { write: (text: string) => errors.push(text) },
        colours: { output: colours, errors: colours },
        interruptible: () => interrupted ?? new AbortController().signal,
      },
    );
    return { code, output: output.join('').trimEnd(), errors: errors.join('').split('\n').filter(Boolean) };
  }

  /** The document that a command prints with `--json`; fails unless it went well. */
  async json<T>(words: string | string[], typed: TypedInput = {}): Promise<T> {
    const asked = typeof words === 'string' ? `${words.trim()} --json` : [...words, '--json'];
    const { code, output, errors } = await this.run(asked, typed);
    if (code !== 0) throw new Error(errors.join('\n'));
    return JSON.parse(output) as T;
  }

  /** The one line with which a command fails. */
  async failure(words: string | string[], typed: TypedInput = {}): Promise<string> {
    const { code, errors } = await this.run(words, typed);
    if (code !== 1 || errors.length !== 1) throw new Error(`Exit code ${code}: ${errors.join('\n')}`);
    return String(errors[0]);
  }
}

function* bytes(pieces: Iterable<string>): Generator<Buffer> {
  for (const piece of pieces) yield Buffer.from(piece);
}
