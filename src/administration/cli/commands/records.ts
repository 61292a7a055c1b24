import {
  assertApplication,
  type ChangeContext,
  deleteRecords,
  nameOfTenant,
  recordHistory,
  type RecordHistory,
  type RecordScope,
  recordStory,
  type RecordStory,
  type Standing,
} from '../../plain.js';
import { count, FatalError, pause, shown, UsageError } from '../../../platform/common/index.js';
import { isDatabaseAway, isUnconfirmed, refusedAsDuplicate } from '../../../platform/database/plain.js';
import { trailEntry, writeTrail } from '../../../trail/plain.js';
import { pluralOfKind } from '../../../kinds/index.js';
import type { CommandContext, Outcome, Run } from '../command.js';
import type { recordDelete, recordHistoryCommand, recordShow } from '../descriptions.js';
import { idsOf, inputFile, kindOf, scopeOf, tenantOf } from '../input.js';
import { inOrder, type Wording } from '../layout.js';
import { databaseOf, changeContextOf } from '../session.js';
import { counted, table } from '../table.js';

const RESTAMP_HEADINGS = ['STAMPED ANEW', 'WHAT', 'REASON', 'WHY'];
const ACTION = 'record.delete';
const MOST_SHOWN = 10;

export const runShow: Run<typeof recordShow> = async (context, { id, ...names }) => {
  const of = { ...tenantOf(names), kind: kindOf(names) };
  const db = databaseOf(await context.connected());
  await assertApplication(db, of);
  const story = await recordStory(db, of, id);
  return { text: linesOf(story).join('\n'), json: story };
};

function linesOf(story: RecordStory): string[] {
  const { services, record, state } = story;
  return [
    standingLine(story),
    ...services.map(({ name, matches }) => `Service ${name}: ${matchOf(matches, state)}`),
    ...(record === null ? [] : [JSON.stringify(record, null, 2)]),
  ];
}

function matchOf(matches: boolean | undefined, state: Standing['state']): string {
  if (matches === undefined) return 'unknown: its filter is not valid, or its query failed or took too long';
  const match = matches ? 'matches' : 'does not match';
  // A record that the feeds do not have yet is in neither of them.
  return state === 'alive' ? `${match}, so it is in ${matches ? 'updates' : 'softdeletes'}` : match;
}

export const runHistory: Run<typeof recordHistoryCommand> = async (context, { id, ...names }) => {
  const of = { ...tenantOf(names), kind: kindOf(names) };
  const db = databaseOf(await context.connected());
  await assertApplication(db, of);
  const history = await recordHistory(db, of, id, context.settings.restampHistoryDays);
  return { text: historyText(history), json: history };
};

export const runDelete: Run<typeof recordDelete> = async (
  context,
  { id, 'ids-from': list, 'dry-run': isDryRun, ...names },
) => {
  const scope = scopeOf(names);
  if ((id === undefined) === (list === undefined)) throw new UsageError('Give either --id or --ids-from.');
  if (list === undefined) return deleteOne(context, scope, { id: id!, isDryRun });
  return deleteListed(context, scope, { list, isDryRun });
};

/** How long an entry is tried again while the database is away, as during a fail-over (milliseconds). */
const AWAY_MS = 15_000;
const BETWEEN_TRIES_MS = 500;
const NEVER = new AbortController().signal;

/**
 * Adds one entry to the audit trail about a command that changed records. It is tried again while the database is away, and
 * stays one entry if an earlier try has written it. It is not tried again if it may be written although no majority
 * confirmed it.
 */
export async function noteRecords(
  { db, actor, auditTrailDays }: ChangeContext,
  { tenant: { organizationid, appid } }: RecordScope,
  { action, target }: { action: `record.${string}`; target: string },
): Promise<void> {
  const entry = trailEntry(actor, { action, organizationid, appid, target }, auditTrailDays);
  for (const end = performance.now() + AWAY_MS; ;) {
    try {
      return void (await writeTrail(db, [entry]).catch(refusedAsDuplicate));
    } catch (error) {
      if (!isDatabaseAway(error) || isUnconfirmed(error) || performance.now() > end) throw error;
    }
    await pause(BETWEEN_TRIES_MS, NEVER);
  }
}

/**
 * Returns the result of some work after `note` has recorded it. Failed work is recorded without a result; its error is
 * thrown even if recording fails.
 */
export async function noted<T>(work: Promise<T>, note: (result: T | undefined) => Promise<void>): Promise<T> {
  let result: T;
  try {
    result = await work;
  } catch (error) {
    await note(undefined).catch(() => undefined);
    throw error;
  }
  await note(result);
  return result;
}

function historyText(history: RecordHistory): Wording {
  const { restamps, gaps } = history;
  const rows = restamps.map(({ at, what, reason, meaning }) => [at.toISOString(), what, reason, meaning]);
  return inOrder(
    standingLine(history),
    table(RESTAMP_HEADINGS, rows, noneOf(history)),
    ...gaps.map(
      ({ from, until, reason }) =>
        `From ${from.toISOString()} to ${until.toISOString()} not every re-stamp for the reason "${reason}" was ` +
        'noted: there were too many.',
    ),
  );
}

function noneOf({ keptDays }: RecordHistory): string {
  if (keptDays === 0) return 'No re-stamp is noted: RESTAMP_HISTORY_DAYS is 0.';
  return `No re-stamp is noted in the last ${counted(keptDays, 'day')}.`;
}

const STATES: Record<Standing['state'], (stamp: string) => string> = {
  alive: (stamp) => `is alive; its stamp is ${stamp}. Windows that contain this stamp deliver it`,
  gone: (stamp) =>
    `was deleted; the stamp of its hard delete is ${stamp}. Windows of harddeletes that contain this stamp deliver it`,
  'not yet known': () =>
    'is stored, but not in the feeds: the watcher has not processed it yet, or ignores it',
  unknown: () => 'is unknown: it never existed, or its hard delete has expired',
};

/** The state of an `id`, in a sentence or two. */
function standingLine({ kind, id, state, lastupdated }: Standing): string {
  return `The ${kind} "${id}" ${STATES[state](lastupdated?.toISOString() ?? 'unknown')}.`;
}

async function deleteOne(
  context: CommandContext,
  scope: RecordScope,
  { id, isDryRun }: { id: string; isDryRun: boolean },
): Promise<Outcome> {
  const { tenant, kind } = scope;
  const changeContext = changeContextOf(context, await context.connected());
  const there = await deleteRecords(changeContext.db, scope, [id], isDryRun);
  if (there.size === 0)
    throw new FatalError(`There is no ${kind} "${shown(id)}" in ${nameOfTenant(tenant)}.`);
  if (!isDryRun) await noteRecords(changeContext, scope, { action: ACTION, target: `${kind} ${id}` });
  return {
    text: `The ${kind} "${id}" of ${nameOfTenant(tenant)} ${isDryRun ? 'would be' : 'is'} deleted.`,
    json: { ...tenant, kind, id, ...(isDryRun && { dryRun: true }) },
  };
}

/** The result for the ids read so far. */
interface Tally {
  deleted: number;
  missing: number;
  /** The first ids without a record. */
  firstMissing: string[];
  bad: number;
  isInterrupted: boolean;
}

async function deleteListed(
  context: CommandContext,
  scope: RecordScope,
  { list, isDryRun }: { list: string; isDryRun: boolean },
): Promise<Outcome> {
  const file = await inputFile(list, context.terminal.input);
  const changeContext = changeContextOf(context, await context.connected());
  const tally: Tally = { deleted: 0, missing: 0, firstMissing: [], bad: 0, isInterrupted: false };
  const stop = context.terminal.interruptible();
  const progress = context.progress(file.size, 'lines');
  const source = file.open(stop);
  const work = workThrough().finally(() => {
    source.destroy();
    progress.end();
  });
  await noted(work, () => noteDeletions(changeContext, scope, isDryRun ? 0 : tally.deleted));
  return deletionOutcome(scope, tally, isDryRun);

  async function workThrough(): Promise<void> {
    try {
      for await (const { ids, lines, bytes } of idsOf(source, badLine)) {
        // Ids that were read before the interruption may follow.
        stop.throwIfAborted();
        const there = await deleteRecords(changeContext.db, scope, ids, isDryRun);
        const missing = ids.filter((one) => !there.has(one));
        tally.deleted += there.size;
        tally.missing += missing.length;
        tally.firstMissing.push(...missing.slice(0, MOST_SHOWN - tally.firstMissing.length));
        progress.at(lines, bytes);
      }
    } catch (error) {
      if (!stop.aborted) throw error;
      tally.isInterrupted = true;
    }
  }

  function badLine(line: number, reason: string): void {
    tally.bad += 1;
    progress.badLine(line, reason);
  }
}

async function noteDeletions(
  changeContext: ChangeContext,
  scope: RecordScope,
  deleted: number,
): Promise<void> {
  if (deleted > 0)
    await noteRecords(changeContext, scope, {
      action: ACTION,
      target: counted(deleted, scope.kind, pluralOfKind(scope.kind)),
    });
}

function deletionOutcome({ tenant, kind }: RecordScope, tally: Tally, isDryRun: boolean): Outcome {
  const { deleted, missing, firstMissing, bad, isInterrupted } = tally;
  const of = `${counted(deleted, kind, pluralOfKind(kind))} of ${nameOfTenant(tenant)}`;
  const more = missing > firstMissing.length ? ` and ${count(missing - firstMissing.length)} more` : '';
  const failures = [
    ...(isInterrupted ? ['Interrupted before the end of the list.'] : []),
    ...(bad > 0 ? [`${counted(bad, 'bad line')} left out.`] : []),
    ...(missing > 0
      ? [`${counted(missing, 'id')} not found: ${firstMissing.map(shown).join(', ')}${more}.`]
      : []),
  ];
  return {
    text: isDryRun ? `${of} would be deleted. Nothing was deleted.` : `${of} deleted.`,
    json: { ...tenant, kind, deleted, missing, firstMissing, bad, ...(isDryRun && { dryRun: true }) },
    failure: failures.length === 0 ? undefined : failures.join(' '),
  };
}
