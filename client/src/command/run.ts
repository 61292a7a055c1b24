import { Harvester, sourceOf } from '../harvest/index.js';
import { parseExactly } from '../parse-exactly.js';
import { Tidemark } from '../tidemark.js';
import { VERSION } from '../version.js';
import { EXIT, type ExitCode, usageError } from './exit-codes.js';
import { columnsTask, withColumns } from './columns.js';
import { exitCodeOf, failureLine, sentenceOf } from './failure.js';
import { harvestTask } from './harvest-task.js';
import { HELP } from './help.js';
import { openCopy, shownCopy } from './open-copy.js';
import { type HarvestEnvironment, type HarvestSettings, type HarvestTask, settingsOf } from './options.js';
import { passwordFrom, type PasswordInput } from './password.js';
import { HarvestProgress, type HarvestTerminal } from './progress.js';
import { useProxy } from './proxy.js';
import type { TaskTools } from './task.js';
import { repairTask, verifyTask } from './verify-task.js';
import { visibleJson, visibleLines } from './visible.js';

/** What surrounds the command. */
export interface CommandWorld {
  environment: HarvestEnvironment;
  input: PasswordInput;
  output: HarvestTerminal;
  errors: HarvestTerminal;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
}

const TASKS: Record<HarvestTask, (tools: TaskTools) => Promise<ExitCode>> = {
  harvest: harvestTask,
  verify: verifyTask,
  repair: repairTask,
};

/** Runs a command line; never throws. */
export async function runCommand(words: string[], world: CommandWorld): Promise<ExitCode> {
  const isForMachines = words.includes('--json');
  try {
    const settings = settingsOf(words, world.environment);
    if (settings === 'help' || settings === 'version') {
      world.output.write(settings === 'help' ? HELP : `${VERSION}\n`);
      return EXIT.done;
    }
    const warning = useProxy(world.environment, settings.url);
    if (warning !== undefined)
      world.errors.write(isForMachines ? `${visibleJson({ warning })}\n` : `tidemark-harvest: ${warning}\n`);
    return await runTask(settings, world);
  } catch (error) {
    const exitCode = world.signal.aborted ? EXIT.interrupted : exitCodeOf(error);
    const message = world.signal.aborted
      ? 'Interrupted. What was stored is whole; run the same again to go on.'
      : sentenceOf(error);
    world.errors.write(failureLine({ message, exitCode }, isForMachines));
    return exitCode;
  }
}

async function runTask(settings: HarvestSettings, world: CommandWorld): Promise<ExitCode> {
  const client = await clientOf(settings, world);
  const store = await openCopy(settings.to, settings.table);
  const progress = new HarvestProgress(world.errors, settings.json);
  const print = (text: string, json: object) => {
    progress.clear();
    world.output.write(`${settings.json ? visibleJson(json) : visibleLines(text)}\n`);
  };
  const { signal } = world;
  const copy = shownCopy(settings.to);
  try {
    const told = sourceOf(client, settings);
    const source = settings.hasColumns
      ? withColumns(told, columnsTask(client, store, { settings, progress }))
      : told;
    const harvester = new Harvester(source, store, settings.limit);
    return await TASKS[settings.task]({ source, store, harvester, settings, progress, print, signal, copy });
  } finally {
    progress.clear();
    await store.close();
  }
}

async function clientOf(settings: HarvestSettings, { input, signal }: CommandWorld): Promise<Tidemark> {
  const { url, org, app, username } = settings;
  const password = settings.password ?? (await passwordFrom(input, signal));
  try {
    return new Tidemark({
      ...{ url, org, app, username, password, parse: parseExactly },
      userAgent: `tidemark-harvest/${VERSION}`,
    });
  } catch (error) {
    throw usageError(`--${(error as Error).message}`);
  }
}
