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
    tell(tools, harvested);
    return exitCodeOf(harvested);
  }
  let last: Harvested | undefined;
  await follow(source, harvester, {
    ...{ signal, startsOver, onPage },
    onHarvest: (harvested) => {
      if (harvested.upserts + harvested.deletes > 0 || last === undefined) tellNews(tools, harvested, last);
      last = harvested;
    },
    onTrouble: (error) => progress.line(visible(`${sentenceOf(error)} Trying again.`)),
  });
  return last === undefined ? EXIT.done : exitCodeOf(last);
}

function exitCodeOf({ unfit = [] }: Harvested): ExitCode {
  return unfit.length === 0 ? EXIT.done : EXIT.unfit;
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

/** Of what the copy cannot hold, only what is new since the harvest before. */
function tellNews(tools: TaskTools, harvested: Harvested, last: Harvested | undefined): void {
  const before = new Set(last?.unfit?.map(noteOf));
  const news = harvested.unfit?.filter((record) => !before.has(noteOf(record))) ?? [];
  const { unfit: _all, ...rest } = harvested;
  if (news.length > 0 || harvested.upserts + harvested.deletes > 0)
    tell(tools, { ...rest, ...(news.length > 0 && { unfit: news }) });
}

function noteOf({ key, lastupdated }: UnfitRecord): string {
  return `${key} ${lastupdated}`;
}

function tell(tools: TaskTools, harvested: Harvested): void {
  const { copy, source } = tools;
  const { upserts, deletes, to, unfit = [] } = harvested;
  const done = `${counted(upserts)} written, ${counted(deletes)} removed`;
  tools.print(`${copy} holds ${source.feed} up to ${to}: ${done}.${unfitLines(unfit)}`, {
    feed: source.feed,
    copy,
    ...harvested,
  });
}
