import type { Readable } from 'node:stream';
import type { Connection } from 'mongoose';
import type { Settings } from '../config/index.js';
import type { Wording } from './table.js';

/** An option of a command: a flag, or where `value` names one, an option that takes it. */
export interface Option {
  description: string;
  value?: string;
  required?: boolean;
}

export type Options = Record<string, Option>;

/** Options that every command has. */
export const COMMON_OPTIONS: Options = {
  json: { description: 'print one JSON document, for machines' },
  help: { description: 'show this help' },
};

/** What the options of a command come to: texts where they take a value, else whether they were given. */
type Values<O extends Options> = {
  readonly [K in keyof O]: O[K] extends { value: string }
    ? O[K] extends { required: true }
      ? string
      : string | undefined
    : boolean;
};

/** A stream that may be a terminal. */
export interface Screen {
  write(text: string): unknown;
  isTTY?: boolean | undefined;
  /** Cells of a line, where it is a terminal. */
  columns?: number | undefined;
}

/** Where a command reads and writes: the streams of its process, or those of a test. */
export interface Terminal {
  input: Readable;
  output: Screen;
  errors: Screen;
  /** Whether each may show colours; without it, neither. */
  colours?: { output: boolean; errors: boolean };
  /** From now on Ctrl-C aborts this signal instead of ending the process; a second one ends it all the same. */
  interruptible(): AbortSignal;
}

/** What a command tells while it works. */
export interface Progress {
  /** How many are done, and how much of the total that is. */
  at(done: number, amount: number): void;
  /** A line of the input that is wrong, and why. */
  badLine(line: number, reason: string): void;
  end(): void;
}

/** What a command works with. The database is opened when it is first asked for. */
export interface CommandContext {
  settings: Settings;
  terminal: Terminal;
  /** Connection string of the embedded database, where that is the one; it holds no password. */
  embeddedUri(): Promise<string | undefined>;
  /** Says something on stderr before the end; machines are not told. */
  tell(text: Wording): void;
  /** Reports progress on stderr, with or without a known total. */
  progress(total: number | undefined, unit: string): Progress;
  /** The connection as it is; for commands that only look. */
  connected(): Promise<Connection>;
  /** The connection with all indexes made; for commands that rely on names and ids being unique. */
  prepared(): Promise<Connection>;
}

/** What a command has to say. */
export interface Outcome {
  /** For people. */
  text: Wording;
  /** For machines, with `--json`: one document. */
  json: unknown;
  /** One line for stderr, where the command did its work but not all went well: exit code 1. */
  failure?: string | undefined;
}

/** A command as its help shows it. */
interface Description<O extends Options = Options> {
  /** One or two words, such as `service set`. */
  name: string;
  summary: string;
  options: O;
  /** Name of what comes without an option, if the command takes such a thing. */
  argument?: string;
  /** More that the help of the command says, a line each. */
  notes?: string[];
}

/** What a command does, with the types of its own options. */
export type Run<D extends Description> = (
  context: CommandContext,
  values: Values<D['options']>,
  argument: string,
) => Promise<Outcome>;

/** A command as the command line knows it. */
export interface Command extends Description {
  run(context: CommandContext, values: Record<string, unknown>, argument: string): Promise<Outcome>;
}

/** States a description with the types of its own options. */
export function describeCommand<const O extends Options>(description: Description<O>): Description<O> {
  return description;
}

/** A command whose code is loaded when it runs: help and errors in the words do not need it. */
export function command<D extends Description>(description: D, load: () => Promise<Run<D>>): Command {
  return {
    ...description,
    run: async (context, values, argument) =>
      (await load())(context, values as Values<D['options']>, argument),
  };
}

/** The options that name an application. */
export const APPLICATION = {
  org: { value: 'ORG', required: true, description: 'organization identifier' },
  app: { value: 'APP', required: true, description: 'application identifier' },
} as const;

export const KIND = {
  kind: { value: 'member|product', required: true, description: 'kind of the records' },
} as const;

/** The options that name a service. */
export const SERVICE = {
  ...APPLICATION,
  ...KIND,
  name: { value: 'NAME', required: true, description: 'name of the service, as in the paths' },
} as const;

/** The option that names a credential. */
export const USERNAME = {
  username: { value: 'NAME', required: true, description: 'its user name' },
} as const;

/** The option that selects credentials that have been unused for a number of days. */
export const UNUSED_FOR = {
  'unused-for': { value: 'DAYS', description: 'only those unused for this many days, such as 90' },
} as const;

/** The options that name a record. */
export const RECORD = {
  ...APPLICATION,
  ...KIND,
  id: { value: 'ID', required: true, description: 'id of the record, as in the feeds' },
} as const;

/** The options that narrow a configuration to one application. */
export const NARROWED = {
  org: { value: 'ORG', description: 'only an application of this organization; give --app as well' },
  app: { value: 'APP', description: 'only this application, and the credentials that open nothing else' },
} as const;

/** The options of commands that read a configuration file. */
export const COMPARED = {
  ...NARROWED,
  prune: { description: 'remove what is stored and not in the file' },
} as const;
