import { type Desk, nameOfTenant } from '../../administration/plain.js';
import { count, FatalError, shown } from '../../common/index.js';
import type { CommandContext, Outcome, Run } from '../command.js';
import type { recordDelete } from '../descriptions/record.js';
import { idsOf } from '../id-list.js';
import { inputFile } from '../input-file.js';
import { noted, noteRecords, type RecordScope } from '../note-records.js';
import { kindOf, tenantOf } from '../option-values.js';
import { counted } from '../print.js';
import { deleteRecords } from '../record-deletion.js';
import { deskOn } from '../session.js';

const ACTION = 'record.delete';
const MOST_SHOWN = 10;

export const run: Run<typeof recordDelete> = async (
  context,
  { id, 'ids-from': list, 'dry-run': isDryRun, ...names },
) => {
  const scope = { tenant: tenantOf(names), kind: kindOf(names) };
  if ((id === undefined) === (list === undefined)) throw new FatalError('Give either --id or --ids-from.');
  if (list === undefined) return deleteOne(context, scope, { id: id!, isDryRun });
  return deleteListed(context, scope, { list, isDryRun });
};

async function deleteOne(
  context: CommandContext,
  scope: RecordScope,
  { id, isDryRun }: { id: string; isDryRun: boolean },
): Promise<Outcome> {
  const { tenant, kind } = scope;
  const desk = deskOn(context, await context.connected());
  const there = await deleteRecords(desk.db, scope, [id], isDryRun);
  if (there.size === 0)
    throw new FatalError(`There is no ${kind} "${shown(id)}" in ${nameOfTenant(tenant)}.`);
  if (!isDryRun) await noteRecords(desk, scope, { action: ACTION, target: `${kind} ${id}` });
  return {
    text: `The ${kind} "${id}" of ${nameOfTenant(tenant)} ${isDryRun ? 'would be' : 'is'} deleted.`,
    json: { ...tenant, kind, id, ...(isDryRun && { dryRun: true }) },
  };
}

/** What has become of a list of ids so far. */
interface Tally {
  deleted: number;
  missing: number;
  /** The first of those that are not there. */
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
  const desk = deskOn(context, await context.connected());
  const tally: Tally = { deleted: 0, missing: 0, firstMissing: [], bad: 0, isInterrupted: false };
  const stop = context.terminal.interruptible();
  const progress = context.progress(file.size, 'lines');
  const source = file.open(stop);
  const work = workThrough().finally(() => {
    source.destroy();
    progress.end();
  });
  await noted(work, () => noteDeletions(desk, scope, isDryRun ? 0 : tally.deleted));
  return outcomeOf(scope, tally, isDryRun);

  async function workThrough(): Promise<void> {
    try {
      for await (const { ids, lines, bytes } of idsOf(source, badLine)) {
        const there = await deleteRecords(desk.db, scope, ids, isDryRun);
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

async function noteDeletions(desk: Desk, scope: RecordScope, deleted: number): Promise<void> {
  if (deleted > 0) await noteRecords(desk, scope, { action: ACTION, target: counted(deleted, scope.kind) });
}

function outcomeOf({ tenant, kind }: RecordScope, tally: Tally, isDryRun: boolean): Outcome {
  const { deleted, missing, firstMissing, bad, isInterrupted } = tally;
  const of = `${counted(deleted, kind)} of ${nameOfTenant(tenant)}`;
  const more = missing > firstMissing.length ? ` and ${count(missing - firstMissing.length)} more` : '';
  const failures = [
    ...(isInterrupted ? ['Interrupted before the end of the list.'] : []),
    ...(bad > 0 ? [`${counted(bad, 'bad line')} left out.`] : []),
    ...(missing > 0
      ? [`${counted(missing, 'id')} not there: ${firstMissing.map(shown).join(', ')}${more}.`]
      : []),
  ];
  return {
    text: isDryRun ? `${of} would be deleted. Nothing was deleted.` : `${of} deleted.`,
    json: { ...tenant, kind, deleted, missing, firstMissing, bad, ...(isDryRun && { dryRun: true }) },
    failure: failures.length === 0 ? undefined : failures.join(' '),
  };
}
