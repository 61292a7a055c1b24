import { FatalError, visible, visibleJson } from '../common/index.js';
import type { Settings } from '../config/plain.js';
import { ConfigError } from '../config/pure.js';
import { parseCommandLine } from './command-line.js';
import type { Screen, Terminal } from './command.js';
import { commands } from './commands/index.js';
import { laidOut, type Layout, toned, type Wording } from './layout.js';
import { helpJson, helpOf } from './usage.js';

const JSON_OPTION = '--json';

/**
 * Runs one command line (contract §5) and returns the exit code: 0, or 1 after one line on stderr. The settings are
 * asked for only where a command needs them. Help and errors in the words load no command.
 */
export async function runCommandLine(
  words: string[],
  loadSettings: () => Promise<() => Settings>,
  terminal: Terminal,
): Promise<0 | 1> {
  const speech = new Speech(terminal, words.includes(JSON_OPTION));
  try {
    const request = parseCommandLine(commands, words);
    if ('help' in request) {
      speech.say(helpOf(request.help), helpJson(request.help));
      return 0;
    }
    const { runCommand } = await import('./session.js');
    const { text, json, failure } = await runCommand(request, await loadSettings(), { terminal, speech });
    speech.say(text, json);
    if (failure === undefined) return 0;
    speech.complain(failure);
    return 1;
  } catch (error) {
    speech.complain(await lineOf(error));
    return 1;
  }
}

async function lineOf(error: unknown): Promise<string> {
  const message = (error instanceof Error ? error.message : String(error)).replaceAll(/\s*\n\s*/g, ' ');
  if (error instanceof FatalError || error instanceof ConfigError) return message;
  const { isDatabaseAway } = await import('../database/plain.js');
  return isDatabaseAway(error)
    ? `The database does not answer: ${message}. Is MONGODB_URI right, and does it run?`
    : `Something went wrong: ${message}`;
}

/** What is said on stdout and stderr: to people, or to machines. */
export class Speech {
  constructor(
    private readonly terminal: Terminal,
    readonly isForMachines: boolean,
  ) {}

  say(text: Wording, json: unknown): void {
    const { output, colours } = this.terminal;
    const said = this.isForMachines
      ? visibleJson(JSON.stringify(json))
      : laidOut(text, layoutOn(output, colours?.output));
    output.write(`${said}\n`);
  }

  /** Nothing for machines, unless somebody looks on. */
  tell(text: Wording): void {
    const { errors, colours } = this.terminal;
    if (this.isForMachines && errors.isTTY !== true) return;
    errors.write(`${laidOut(text, layoutOn(errors, colours?.errors))}\n`);
  }

  /** The one line of an error; for machines a JSON document, as everything else. */
  complain(sentence: string): void {
    const { errors, colours } = this.terminal;
    const line = this.isForMachines
      ? errorJson({ error: sentence })
      : toned(visible(sentence), 'red', layoutOn(errors, colours?.errors));
    errors.write(`${line}\n`);
  }

  /** The message for a line of the input that is wrong. */
  badLine(line: number, reason: string): string {
    return this.isForMachines ? errorJson({ line, error: reason }) : visible(`line ${line} ${reason}`);
  }
}

function layoutOn({ isTTY, columns }: Screen, colours = false): Layout {
  return { columns: (isTTY === true && columns) || Infinity, colours };
}

function errorJson(error: { line?: number; error: string }): string {
  return visibleJson(JSON.stringify(error));
}
