import { follow, type Harvested, type UnfitRecord } from '../harvest/index.js';
import { EXIT, type ExitCode } from './exit-codes.js';
import { sentenceOf } from './failure.js';
import { counted } from './progress-text.js';
import type { TaskTools } from './task.js';
import { unfitLines } from './verify-task.js';
import { visible } from './visible.js';

/** Further ahead than any clock: the service reads such a `to` as its own. */
const THE_CLOCK = '9999-01-01T00:00:00.000Z';

/** Harvests once, or on and on. */
export async function harvestTask(tools: TaskTools): Promise<ExitCode> {
  const end = new AbortController();
  void countOn(tools, end.signal);
  try {
    return await harvestOn(tools);
  } finally {
    end.abort();
  }
}

async function harvestOn(tools: TaskTools): Promise<ExitCode> {
  const { harvester, settings, signal, progress, source } = tools;
  const { startsOver } = settings;
  const onPage = ({ upserts, deletes }: Harvested) => progress.at(upserts + deletes);
  if (!settings.follows) {
    const harvested = await harvester.harvest({ signal, startsOver, onPage });
    const { unfit = [] } = (await tools.store.state()) ?? {};
    tell(tools, harvested, unfit);
    return unfit.length === 0 ? EXIT.done : EXIT.unfit;
  }
  await follow(source, harvester, {
    ...{ signal, startsOver, onPage },
    onHarvest: (harvested) => {
      if (harvested.upserts + harvested.deletes > 0) tell(tools, harvested);
    },
    onTrouble: (error) => progress.line(visible(`${sentenceOf(error)} Trying again.`)),
  });
  return EXIT.done;
}

/** Only a first harvest on a terminal estimates its duration: counting makes the service read every record. */
async function countOn({ store, source, progress }: TaskTools, signal: AbortSignal): Promise<void> {
  if (!progress.isOnTerminal) return;
  try {
    if ((await store.state()) !== undefined) return;
    const { count } = await source.digest({ to: THE_CLOCK, signal });
    progress.total = count;
  } catch {
    // A bar without an end is shown then; what is wrong, the harvest tells.
  }
}

function tell(tools: TaskTools, harvested: Harvested, unfit: UnfitRecord[] = []): void {
  const { copy, source } = tools;
  const { upserts, deletes, to } = harvested;
  const done = `${counted(upserts)} written, ${counted(deletes)} removed`;
  tools.print(`${copy} holds ${source.feed} up to ${to}: ${done}.${unfitLines(unfit)}`, {
    feed: source.feed,
    copy,
    ...harvested,
    ...(unfit.length > 0 && { unfit }),
  });
}
