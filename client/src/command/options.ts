import { parseArgs } from 'node:util';
import type { Kind } from '../shapes.js';
import { assertTableName } from '../stores/rows.js';
import { baseOf } from '../http/base.js';
import { usageError } from './exit-codes.js';
import { optionFault } from './option-fault.js';

const OPTIONS = {
  url: { type: 'string' },
  org: { type: 'string' },
  app: { type: 'string' },
  kind: { type: 'string' },
  service: { type: 'string' },
  to: { type: 'string' },
  table: { type: 'string' },
  username: { type: 'string' },
  limit: { type: 'string' },
  'password-stdin': { type: 'boolean' },
  once: { type: 'boolean' },
  follow: { type: 'boolean' },
  'start-over': { type: 'boolean' },
  columns: { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
} as const;

const TASKS = ['harvest', 'verify', 'repair'] as const;

export type HarvestTask = (typeof TASKS)[number];

/** The variables that are read. */
export interface HarvestEnvironment {
  readonly [name: string]: string | undefined;
  TIDEMARK_USERNAME?: string | undefined;
  TIDEMARK_PASSWORD?: string | undefined;
  TIDEMARK_TO?: string | undefined;
}

/** What a command line asks for. */
export interface HarvestSettings {
  task: HarvestTask;
  url: string;
  org: string;
  app: string;
  kind: Kind;
  service: string;
  to: string;
  table: string;
  username: string;
  /** Nothing where it stands on stdin. */
  password: string | undefined;
  limit: number;
  follows: boolean;
  startsOver: boolean;
  /** The copy has a typed column for each field. */
  hasColumns: boolean;
  json: boolean;
}

/** Reads a command line; throws a sentence that says what is right. */
export function settingsOf(
  words: string[],
  environment: HarvestEnvironment,
): HarvestSettings | 'help' | 'version' {
  const { values, positionals } = parsed(words);
  if (values.help === true) return 'help';
  if (values.version === true) return 'version';
  const task = taskOf(positionals);
  const required = (name: 'url' | 'org' | 'app') => given(`--${name}`, values[name]);
  const kind = kindOf(given('--kind', values.kind));
  if (values.once === true && values.follow === true) throw usageError('Give --once or --follow, not both.');
  for (const name of ['follow', 'start-over'] as const)
    if (task !== 'harvest' && values[name] === true) throw usageError(`${task} does not take --${name}.`);
  return {
    task,
    url: urlOf(required('url')),
    org: required('org'),
    app: required('app'),
    kind,
    service: values.service ?? 'default',
    to: given('--to, or the variable TIDEMARK_TO', values.to ?? environment.TIDEMARK_TO),
    table: tableOf(values.table ?? `${kind.replaceAll('-', '_')}s`),
    username: given(
      '--username, or the variable TIDEMARK_USERNAME',
      values.username ?? environment.TIDEMARK_USERNAME,
    ),
    password:
      values['password-stdin'] === true
        ? undefined
        : given('the variable TIDEMARK_PASSWORD, or --password-stdin', environment.TIDEMARK_PASSWORD),
    limit: limitOf(values.limit),
    follows: values.follow === true,
    startsOver: values['start-over'] === true,
    hasColumns: values.columns === true,
    json: values.json === true,
  };
}

/** Checked before anything else uses it, such as the choice of a proxy. */
function urlOf(url: string): string {
  try {
    baseOf({ url, org: '', app: '' });
  } catch (error) {
    throw usageError((error as Error).message);
  }
  return url;
}

function parsed(words: string[]) {
  const fault = optionFault(words, OPTIONS);
  if (fault !== undefined) throw usageError(fault);
  return parseArgs({ args: words, options: OPTIONS, allowPositionals: true });
}

function taskOf([word, more]: string[]): HarvestTask {
  if (word === undefined) return 'harvest';
  const task = TASKS.find((one) => one === word);
  if (task === undefined || more !== undefined)
    throw usageError(`"${more ?? word}" is no command. Give verify, repair, or no word at all.`);
  return task;
}

function given(name: string, value: string | undefined): string {
  if (value === undefined || value === '') throw usageError(`${name} is missing.`);
  return value;
}

function kindOf(text: string): Kind {
  // The service answers 404 for a kind that it does not have.
  if (/^[a-z][a-z0-9-]{0,31}$/.test(text)) return text as Kind;
  throw usageError(
    `--kind "${text}" is not a kind of record. Give its name, such as product: lower-case letters, digits and hyphens.`,
  );
}

function tableOf(name: string): string {
  try {
    assertTableName(name);
  } catch (error) {
    throw usageError(`--table ${(error as Error).message}`);
  }
  return name;
}

function limitOf(text = '1000'): number {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw usageError(`--limit "${text}" is no number of items. Give one from 1 to 10000, such as 1000.`);
}
