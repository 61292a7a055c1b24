import type { Readable } from 'node:stream';
import type { Connection } from 'mongoose';
import { BUILT_IN_KINDS } from '../../kinds/index.js';
import type { Invocation, Settings } from '../../platform/config/index.js';
import type { Wording } from './layout.js';

/**
 * An option of a command. Without `value` it is a flag; otherwise it takes a value, and `value` is its name in the
 * help.
 */
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

/** The values of a command's options: strings for options that take a value, booleans for flags. */
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
  /** Width of a line in cells, if it is a terminal. */
  columns?: number | undefined;
}

/** Where a command reads and writes: the streams of its process, or those of a test. */
export interface Terminal {
  input: Readable;
  output: Screen;
  errors: Screen;
  /** Whether each stream may show colours. Default: neither. */
  colours?: { output: boolean; errors: boolean };
  /** How the commands were called. Default: by the npm scripts of a repository clone. */
  invocation?: Invocation;
  /** Waits until the output is written, and returns the error if it cannot be, such as that of a closed pipe. */
  written?(): Promise<Error | undefined>;
  /**
   * Returns a signal that Ctrl-C, SIGTERM and SIGHUP abort from now on, instead of ending the process. A second one ends
   * it, if it comes at least a second later.
   */
  interruptible(): AbortSignal;
}

/** Reports the progress of a command. */
export interface Progress {
  /**
   * Reports the number of finished items, and their amount in the unit of the total: bytes for a file, otherwise items.
   */
  at(done: number, amount: number): void;
  /** Reports an invalid line of the input, with the reason. */
  badLine(line: number, reason: string): void;
  end(): void;
}

/** The environment of a command. The database is opened on first use. */
export interface CommandContext {
  settings: Settings;
  terminal: Terminal;
  /** Connection string of the embedded database, without a password; undefined if it does not run or is not in use. */
  embeddedUri(): Promise<string | undefined>;
  /** Writes a notice to stderr before the result; with `--json`, only if stderr is a terminal. */
  print(text: Wording): void;
  /**
   * Asks on stderr, and returns whether the answer on stdin is yes. With `--json`, reads the answer without a question,
   * unless stderr is a terminal.
   */
  confirm(question: string): Promise<boolean>;
  /** Reports progress on stderr. The total is in bytes for a file, otherwise in items; `unit` names the items. */
  progress(total: number | undefined, unit: string): Progress;
  /** The connection as it is, without creating indexes. */
  connected(): Promise<Connection>;
  /** The connection after all indexes were created; for commands that rely on unique names and ids. */
  prepared(): Promise<Connection>;
}

/** The result of a command. */
export interface Outcome {
  /** For people. */
  text: Wording;
  /** For machines, with `--json`: one document. */
  json: unknown;
  /** One line for stderr, if the command ended without an error, but not all of its work is done: exit code 1. */
  failure?: string | undefined;
  /** The error that ended the work after a part of it was done. It is reported like one that is thrown. */
  error?: unknown;
  /** The exit code in that case, if the help of the command promises another one. */
  failureCode?: 3;
}

/** The description of a command, as its help shows it. */
interface Description<O extends Options = Options> {
  /** One or two words, such as `service set`. */
  name: string;
  summary: string;
  options: O;
  /** Name of the positional argument, if the command takes one. */
  argument?: string;
  /**
   * Further lines of the command's help. A function receives the command line that calls the program, such as `npx
   * tidemark admin`.
   */
  notes?: (string | ((admin: string) => string))[];
}

/** The implementation of a command, with the types of its own options. */
export type Run<D extends Description> = (
  context: CommandContext,
  values: Values<D['options']>,
  argument: string,
) => Promise<Outcome>;

/** A command as the command line calls it, with untyped values. */
export interface Command extends Description {
  run(context: CommandContext, values: Record<string, unknown>, argument: string): Promise<Outcome>;
}

/** Infers the type of a description from its own options. */
export function describeCommand<const O extends Options>(description: Description<O>): Description<O> {
  return description;
}

/** A command whose code is loaded when it runs. Help, and command lines that cannot be parsed, do not load the code. */
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

/** The value of an option that names a kind; `...` means the kinds that operators create, which "kind list" shows. */
export const KIND_VALUE = `${BUILT_IN_KINDS.join('|')}|...`;

export const KIND = {
  kind: { value: KIND_VALUE, required: true, description: 'kind of the records' },
} as const;

/** The options that name a service. */
export const SERVICE = {
  ...APPLICATION,
  ...KIND,
  name: { value: 'NAME', required: true, description: 'name of the service, as in the paths' },
} as const;

/** The options that choose the fields of a service. */
export const SHOWN_FIELDS = {
  fields: {
    value: 'JSON|@FILE|none',
    description:
      'fields that it shows, such as {"except": ["data.email"]}; "none" removes the selection, so it shows all',
  },
  hash: {
    value: 'PATH,PATH|JSON|none',
    description: 'fields that it shows as a keyed hash, such as data.accountnumber; "none": no fields',
  },
  'allow-hidden-filter': { description: 'the filter may name a field that is not shown' },
  'refuse-hidden-filter': { description: 'the filter may no longer name such a field' },
} as const;

/** The options that choose whether the schema of a service shows values. */
export const SCHEMA_EXAMPLES = {
  'schema-examples': { description: 'its schema shows values of its records' },
  'no-schema-examples': { description: 'its schema no longer shows values' },
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
  app: {
    value: 'APP',
    description: 'only this application, and the credentials that give access to nothing else',
  },
} as const;

/** The options of commands that read a configuration file. */
export const COMPARED = {
  ...NARROWED,
  prune: { description: 'remove what is stored and not in the file' },
} as const;
