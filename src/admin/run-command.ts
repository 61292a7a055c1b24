import type { Settings } from '../config/plain.js';
import type { CommandContext, Outcome, Progress, Terminal } from './command.js';
import type { Request } from './command-line.js';
import { progressOn } from './import/index.js';
import { Session } from './session.js';
import type { Speech } from './speech.js';

interface Console {
  terminal: Terminal;
  speech: Speech;
}

/** Runs a command with its values, on a database that is opened where the command asks for it, and closed in the end. */
export async function runCommand(
  { command, values, argument }: Exclude<Request, { help: unknown }>,
  readSettings: () => Settings,
  { terminal, speech }: Console,
): Promise<Outcome> {
  const session = new Session(readSettings);
  const context: CommandContext = {
    get settings() {
      return session.settings;
    },
    terminal,
    tell: (text) => speech.tell(text),
    progress: (total, unit) => progressFor({ terminal, speech }, total, unit),
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

function progressFor({ terminal, speech }: Console, total: number | undefined, unit: string): Progress {
  const shown = progressOn(terminal.errors, total, unit, speech.isForMachines);
  return {
    at: (done, amount) => shown.at(done, amount),
    badLine: (line, reason) => shown.note(speech.badLine(line, reason)),
    end: () => shown.end(),
  };
}
