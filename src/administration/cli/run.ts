import { FatalError, UsageError } from '../../platform/common/index.js';
import type { Settings } from '../../platform/config/plain.js';
import { ConfigError, IN_CLONE, thisBuild, versionInWords } from '../../platform/config/pure.js';
import { parseCommandLine } from './command-line.js';
import type { Terminal } from './command.js';
import { commands } from './commands/index.js';
import { Output } from './output.js';
import { helpJson, helpOf } from './usage.js';

export const JSON_OPTION = '--json';
const VERSION = '--version';

/**
 * Runs one command line (contract §5) and returns the exit code: 0, or 1 after one line on stderr, or the code that the help of
 * the command promises; for a mistake in the command line, the code that the program promises. The settings are loaded only if a command needs them. Help, the version
 * and usage errors load no command.
 */
export async function runCommandLine(
  words: string[],
  loadSettings: () => Promise<() => Settings>,
  terminal: Terminal,
): Promise<0 | 1 | 2 | 3> {
  const { calling = IN_CLONE } = terminal;
  const output = new Output(terminal, words.includes(JSON_OPTION));
  try {
    if (words.includes(VERSION) && words.every((word) => word === VERSION || word === JSON_OPTION)) {
      output.say(versionInWords(), thisBuild());
      return 0;
    }
    const request = parseCommandLine(commands, words, calling.admin);
    if ('help' in request) {
      output.say(helpOf(request.help, calling), helpJson(request.help, calling));
      return 0;
    }
    const { runCommand } = await import('./session.js');
    const outcome = await runCommand(request, await loadSettings(), { terminal, output });
    const { text, json, failure, failureCode = 1 } = outcome;
    output.say(text, json);
    if (failure === undefined) return 0;
    output.complain(failure);
    return failureCode;
  } catch (error) {
    output.complain(await lineOf(error));
    return error instanceof UsageError ? calling.mistake : 1;
  }
}

async function lineOf(error: unknown): Promise<string> {
  if (!(error instanceof Error)) return `Something went wrong: ${inOneLine(String(error))}`;
  if (error instanceof FatalError || error instanceof ConfigError) return inOneLine(error.message);
  const { isDatabaseAway, troubleOfCommand } = await import('../../platform/database/plain.js');
  return isDatabaseAway(error)
    ? `The database does not answer: ${inOneLine(troubleOfCommand(error))}. Is MONGODB_URI right, and does it run?`
    : `Something went wrong: ${inOneLine(error.message)}`;
}

function inOneLine(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, ' ');
}
