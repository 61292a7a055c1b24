import { FatalError } from '../common/index.js';
import { ConfigError, type Settings } from '../config/index.js';
import { isDatabaseAway } from '../database/index.js';
import type { Command, CommandContext, Outcome, Terminal } from './command.js';
import { parseCommandLine } from './command-line.js';
import { commands } from './commands/index.js';
import { Session } from './session.js';
import { helpOf, helpOfAll } from './usage.js';

/**
 * Runs one command line (contract §5) and returns the exit code: 0, or 1 after one line on stderr. The settings are
 * asked for only where a command runs.
 */
export async function runCommandLine(
  words: string[],
  settings: () => Settings,
  terminal: Terminal,
): Promise<0 | 1> {
  try {
    const request = parseCommandLine(commands, words);
    if ('help' in request) {
      terminal.output.write(`${helpTextOf(request.help)}\n`);
      return 0;
    }
    const { command, values, argument, json } = request;
    const outcome = await runCommand(command, values, argument, settings(), terminal);
    terminal.output.write(`${json ? JSON.stringify(outcome.json) : outcome.text}\n`);
    if (outcome.failure === undefined) return 0;
    terminal.errors.write(`${outcome.failure}\n`);
    return 1;
  } catch (error) {
    terminal.errors.write(`${lineOf(error)}\n`);
    return 1;
  }
}

function helpTextOf(help: Command | readonly Command[]): string {
  return 'name' in help ? helpOf(help) : helpOfAll(help);
}

async function runCommand(
  command: Command,
  values: Record<string, unknown>,
  argument: string,
  settings: Settings,
  terminal: Terminal,
): Promise<Outcome> {
  const session = new Session(settings);
  const context: CommandContext = {
    settings,
    terminal,
    connected: () => session.connected(),
    prepared: () => session.prepared(),
  };
  try {
    return await command.run(context, values, argument);
  } finally {
    await session.close();
  }
}

function lineOf(error: unknown): string {
  const message = (error instanceof Error ? error.message : String(error)).replaceAll(/\s*\n\s*/g, ' ');
  if (error instanceof FatalError || error instanceof ConfigError) return message;
  return isDatabaseAway(error)
    ? `The database does not answer: ${message}. Is MONGODB_URI right, and does it run?`
    : `Something went wrong: ${message}`;
}
