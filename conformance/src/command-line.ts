import { parseArgs } from 'node:util';
import { CHECKS } from './checks/index.js';
import type { ContractPart } from './contract-check.js';
import type { JudgeOptions } from './judge.js';
import type { JudgedServer } from './target.js';

/** The command was typed wrong. */
export class WrongCommandError extends Error {}

/** What was typed. */
export interface TypedCommand {
  help: boolean;
  version?: true;
  json: boolean;
  /** Whether the password comes on stdin. */
  asksPassword: boolean;
  options: Omit<JudgeOptions, 'login'>;
  username: string | undefined;
}

const EXAMPLE = 'npx tidemark-conformance --url http://127.0.0.1:3000 --org demo --app shop';

export const HELP = `Checks a server against the rules of the contract for reading, and names each rule that it breaks.

  ${EXAMPLE}

The credentials are read from TIDEMARK_USERNAME and TIDEMARK_PASSWORD.

  --url URL             where the server is
  --org ORG --app APP   the application to check
  --kind KIND           product (default), member, or another kind that the server has
  --service NAME        a service other than default; may be repeated
  --channel NAME        a channel that products carry
  --uncovered ORG/APP   an existing application that the credentials do not cover
  --fields              services may leave out or hash createdBy and channels
  --changes             also checks the feed changes
  --digest              also checks the digest
  --events              also checks the events
  --writes              also checks writes: creates members and patches them, with --kind member
  --only CHECK          only this check; may be repeated
  --username NAME       instead of TIDEMARK_USERNAME
  --password-stdin      the password is the first line of stdin
  --pages N             greatest number of pages of one feed (20)
  --requests N          greatest number of requests (5000)
  --timeout SECONDS     for one request (60)
  --deadline SECONDS    for the whole run (600)
  --json                the result as JSON on stdout
  --help, --version

Exit code: 0 every judged rule holds, 1 a rule is broken, 2 the server could not be judged, or the result not written.`;

const STRINGS = [
  'url',
  'org',
  'app',
  'kind',
  'channel',
  'uncovered',
  'username',
  'pages',
  'requests',
  'timeout',
  'deadline',
] as const;
const LISTS = ['service', 'only'] as const;
const SWITCHES = [
  'fields',
  'changes',
  'digest',
  'events',
  'writes',
  'password-stdin',
  'json',
  'help',
  'version',
] as const;

type Words = Partial<Record<(typeof STRINGS)[number], string>> &
  Partial<Record<(typeof LISTS)[number], string[]>> &
  Partial<Record<(typeof SWITCHES)[number], boolean>>;

/** Reads a command line. Throws {@link WrongCommandError} with a sentence that shows a right value. */
export function parseCommand(words: string[]): TypedCommand {
  const typed = valuesOf(words);
  const help = typed.help === true;
  const version = typed.version === true;
  const target = targetOf(
    help || version ? { url: 'http://127.0.0.1', org: 'org', app: 'app', ...typed } : typed,
  );
  const parts: ContractPart[] = [
    'seed',
    ...(typed.changes ? ['changes' as const] : []),
    ...(typed.digest ? ['digest' as const] : []),
    ...(typed.events ? ['events' as const] : []),
    ...(typed.writes ? ['writes' as const] : []),
  ];
  return {
    ...(version && { version }),
    ...{ help, json: typed.json === true, asksPassword: typed['password-stdin'] === true },
    username: typed.username,
    options: {
      ...{ target, parts, only: onlyOf(typed.only ?? [], parts) },
      pages: integer('pages', typed.pages, 20),
      bounds: {
        requests: integer('requests', typed.requests, 5000),
        requestMs: integer('timeout', typed.timeout, 60) * 1000,
        runMs: integer('deadline', typed.deadline, 600) * 1000,
      },
    },
  };
}

function valuesOf(words: string[]): Words {
  const options: Record<string, { type: 'string' | 'boolean'; multiple?: boolean }> = {};
  for (const name of STRINGS) options[name] = { type: 'string' };
  for (const name of LISTS) options[name] = { type: 'string', multiple: true };
  for (const name of SWITCHES) options[name] = { type: 'boolean' };
  try {
    return parseArgs({ args: words, options }).values;
  } catch (error) {
    const [sentence = ''] = (error as Error).message.split('. ');
    throw new WrongCommandError(`${sentence.replace(/\.$/, '')}. Such as: ${EXAMPLE}`);
  }
}

function targetOf({
  url,
  org,
  app,
  kind = 'product',
  service = [],
  channel,
  uncovered,
  fields,
}: Words): JudgedServer {
  if (url === undefined || org === undefined || app === undefined)
    throw new WrongCommandError(`--url, --org and --app are needed. Such as: ${EXAMPLE}`);
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol) || new URL(url).username !== '')
    throw new WrongCommandError(
      `--url "${url}" is no address of a server. Send one such as http://127.0.0.1:3000.`,
    );
  if (!/^[a-z][a-z0-9-]{0,31}$/.test(kind))
    throw new WrongCommandError(`--kind "${kind}" is no name of a kind. Send one such as product or member.`);
  if (uncovered !== undefined && !/^[^/]+\/[^/]+$/.test(uncovered))
    throw new WrongCommandError(`--uncovered "${uncovered}" is no application. Send one such as acme/shop.`);
  return {
    ...{ url, organizationid: org, appid: app, kind, services: service },
    ...(channel !== undefined && { channel }),
    ...(uncovered !== undefined && { uncovered }),
    ...(fields === true && { hasFields: true }),
  };
}

function onlyOf(only: string[], parts: ContractPart[]): string[] {
  for (const id of only) {
    const check = CHECKS.find((one) => one.id === id);
    if (check === undefined)
      throw new WrongCommandError(
        `--only "${id}" is no check. The page docs/conformance.md lists them, such as ${CHECKS[0]!.id}.`,
      );
    if (!parts.includes(check.part)) throw new WrongCommandError(`--only ${id} needs --${check.part}.`);
  }
  return only;
}

function integer(name: string, text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback;
  const value = Number(text);
  if (/^\d{1,7}$/.test(text) && value > 0) return value;
  throw new WrongCommandError(`--${name} "${text}" is no number of 1 or more. Send one such as ${fallback}.`);
}
