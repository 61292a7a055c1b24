import { FatalError, visible, visibleJson } from '../common/index.js';
import { ConfigError, type Settings } from '../config/plain.js';
import { isDatabaseAway } from '../database/plain.js';
import type { CommandContext, Outcome, Progress, Screen, Terminal } from './command.js';
import { parseCommandLine, type Request } from './command-line.js';
import { commands } from './commands/index.js';
import { progressOn } from './import/index.js';
import { laidOut, type Layout, toned, type Wording } from './layout.js';
import { Session } from './session.js';
import { helpJson, helpOf } from './usage.js';

const JSON_OPTION = '--json';

/**
 * Runs one command line (contract §5) and returns the exit code: 0, or 1 after one line on stderr. The settings are
 * asked for only where a command needs them.
 */
export async function runCommandLine(
  words: string[],
  settings: () => Settings,
  terminal: Terminal,
): Promise<0 | 1> {
  const speech = new Speech(terminal, words.includes(JSON_OPTION));
  try {
    const request = parseCommandLine(commands, words);
    if ('help' in request) {
      speech.say(helpOf(request.help), helpJson(request.help));
      return 0;
    }
    const { text, json, failure } = await runCommand(request, settings, { terminal, speech });
    speech.say(text, json);
    if (failure === undefined) return 0;
    speech.complain(failure);
    return 1;
  } catch (error) {
    speech.complain(lineOf(error));
    return 1;
  }
}

/** What is said on stdout and stderr: to people, or to machines. */
class Speech {
  constructor(
    private readonly terminal: Terminal,
    private readonly isForMachines: boolean,
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

  progress(total: number | undefined, unit: string): Progress {
    const shown = progressOn(this.terminal.errors, total, unit, this.isForMachines);
    return {
      at: (done, amount) => shown.at(done, amount),
      badLine: (line, reason) =>
        shown.note(
          this.isForMachines ? errorJson({ line, error: reason }) : visible(`line ${line} ${reason}`),
        ),
      end: () => shown.end(),
    };
  }
}

function layoutOn({ isTTY, columns }: Screen, colours = false): Layout {
  return { columns: (isTTY === true && columns) || Infinity, colours };
}

function errorJson(error: { line?: number; error: string }): string {
  return visibleJson(JSON.stringify(error));
}

async function runCommand(
  { command, values, argument }: Exclude<Request, { help: unknown }>,
  readSettings: () => Settings,
  { terminal, speech }: { terminal: Terminal; speech: Speech },
): Promise<Outcome> {
  const session = new Session(readSettings);
  const context: CommandContext = {
    get settings() {
      return session.settings;
    },
    terminal,
    tell: (text) => speech.tell(text),
    progress: (total, unit) => speech.progress(total, unit),
    embeddedUri: () => session.embeddedUri(),
    connected: () => session.connected(),
    prepared: () => session.prepared(),
  };
  try {
    return await command.run(context, values, argument);
  } catch (error) {
    throw session.explained(error);
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
