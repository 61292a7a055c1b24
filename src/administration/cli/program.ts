import { FatalError, UsageError, shown } from '../../platform/common/index.js';
import type { Settings } from '../../platform/config/plain.js';
import { ConfigError, IN_CLONE, thisBuild, versionInWords } from '../../platform/config/pure.js';
import { parseCommandLine } from './command-line.js';
import type { Terminal } from './command.js';
import { commands } from './commands/index.js';
import { Output } from './output.js';
import { helpJson, helpOf } from './usage.js';

const JSON_OPTION = '--json';
const VERSION = '--version';

/**
 * Runs one command line (contract §5) and returns the exit code. It is 0 on success, 1 or the code that the help of the
 * command documents after a failure, which is reported in one line on stderr, and the code from {@link
 * Terminal.invocation} after a mistake in the command line. The settings are read only if a command needs them. Help,
 * the version and errors that the parser of command lines finds load no command and no driver.
 */
export async function runCommandLine(
  words: string[],
  loadSettings: () => Promise<() => Settings>,
  terminal: Terminal,
): Promise<0 | 1 | 2 | 3> {
  const { invocation = IN_CLONE } = terminal;
  const output = new Output(terminal, words.includes(JSON_OPTION));
  try {
    if (words.includes(VERSION) && words.every((word) => word === VERSION || word === JSON_OPTION)) {
      output.say(versionInWords(), thisBuild());
      return await output.ended(0);
    }
    const request = parseCommandLine(commands, words, invocation.admin);
    if ('help' in request) {
      output.say(helpOf(request.help, invocation), helpJson(request.help, invocation));
      return await output.ended(0);
    }
    const { runCommand } = await import('./session.js');
    const outcome = await runCommand(request, await loadSettings(), { terminal, output });
    const { text, json, failure, failureCode = 1, error } = outcome;
    output.say(text, json);
    if (failure === undefined && error === undefined) return await output.ended(0);
    return await output.ended(failureCode, failure ?? (await lineOf(error)));
  } catch (error) {
    output.complain(await lineOf(error));
    return error instanceof UsageError ? invocation.mistake : 1;
  }
}

async function lineOf(error: unknown): Promise<string> {
  if (!(error instanceof Error)) return `Unexpected error: ${inOneLine(String(error))}`;
  if (error instanceof FatalError || error instanceof ConfigError) return inOneLine(error.message);
  const { isDatabaseAway, isUnconfirmed, troubleOfCommand } =
    await import('../../platform/database/plain.js');
  if (isUnconfirmed(error))
    return (
      `The database has not confirmed the command in time (${inOneLine(error.message)}). If the command changes something, ` +
      'the change may have been made: check this before you run it again.'
    );
  return isDatabaseAway(error)
    ? `The database does not answer: ${inOneLine(troubleOfCommand(error))}. Is it running, and is MONGODB_URI right?`
    : `Unexpected error: ${inOneLine(error.message)}`;
}

function inOneLine(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, ' ');
}

/** The dependencies of the program `tidemark`. */
interface Surroundings {
  /** Starts the service, which then ends the process itself. */
  serve: () => Promise<unknown>;
  loadSettings: () => Promise<() => Settings>;
  terminal: Terminal;
}

const HELP = new Set(['help', '--help', '-h']);

/**
 * Runs a command line of the program `tidemark`: the service, a command of operators, or `check`, which is short for
 * `admin check`. Returns the exit code; undefined while the service runs.
 */
export async function runProgram(
  words: string[],
  { serve, loadSettings, terminal }: Surroundings,
): Promise<0 | 1 | 2 | 3 | undefined> {
  const [first = '', ...rest] = words;
  const output = new Output(terminal, words.includes(JSON_OPTION));
  const { serve: program, mistake } = terminal.invocation ?? IN_CLONE;
  if (first === 'admin') return runCommandLine(rest, loadSettings, terminal);
  if (first === 'check' || words.includes('--version')) return runCommandLine(words, loadSettings, terminal);
  if (words.some((word) => HELP.has(word)) && ['', 'serve', 'help', '--help', '-h'].includes(first)) {
    const help = programHelp(program);
    output.say(help, { help: help.split('\n') });
    return output.ended(0);
  }
  if (first === '' || (first === 'serve' && rest.length === 0)) {
    await serve();
    return undefined;
  }
  output.complain(`${faultOf(first, rest, program)} All commands: ${program} --help`);
  return mistake;
}

function faultOf(first: string, [next]: string[], program: string): string {
  if (first === 'serve')
    return `Unexpected argument "${shown(next ?? '')}": settings are environment variables.`;
  if (first.startsWith('-')) return `There is no option ${shown(first)}.`;
  const isOfAdmin = commands.some(({ name }) => name.split(' ')[0] === first);
  const said = `Unknown command "${shown(first)}".`;
  return isOfAdmin ? `${said} Did you mean: ${program} admin ${first}?` : said;
}

function programHelp(program: string): string {
  return `Usage: ${program} [serve]
       ${program} admin COMMAND [OPTIONS]
       ${program} check

  serve      Run the service; the default
  admin      Manage applications, services, credentials and records; ${program} admin --help lists the commands
  check      Check settings, database, roles, indexes, clocks, watcher and kinds; the same as admin check
  --version  Print the version, the commit that it was built from, and the version of Node
  --help     Show this help

Settings are environment variables. Without MONGODB_URI, the service starts an embedded database with a demo.
With NODE_ENV=production, or with a ROLE other than all, MONGODB_URI is required.
Exit code: 0, or 1 with one line on stderr; 2 for a mistake in the command line.
The service exits with 78 if a setting is not valid.`;
}
