import { assertApplication, recordHistory, type RecordHistory } from '../../administration/plain.js';
import type { Run } from '../command.js';
import type { recordHistoryCommand } from '../descriptions/record.js';
import { inOrder, type Wording } from '../layout.js';
import { kindOf, tenantOf } from '../option-values.js';
import { counted, table } from '../print.js';
import { standingLine } from '../record-lines.js';
import { databaseOf } from '../session.js';

const HEADINGS = ['STAMPED ANEW', 'WHAT', 'REASON', 'WHY'];

export const run: Run<typeof recordHistoryCommand> = async (context, { id, ...names }) => {
  const of = { ...tenantOf(names), kind: kindOf(names) };
  const db = databaseOf(await context.connected());
  await assertApplication(db, of);
  const history = await recordHistory(db, of, id, context.settings.restampHistoryDays);
  return { text: textOf(history), json: history };
};

function textOf(history: RecordHistory): Wording {
  const { restamps, gaps } = history;
  const rows = restamps.map(({ at, what, reason, meaning }) => [at.toISOString(), what, reason, meaning]);
  return inOrder(
    standingLine(history),
    table(HEADINGS, rows, noneOf(history)),
    ...gaps.map(
      ({ from, until, reason }) =>
        `From ${from.toISOString()} to ${until.toISOString()} not every re-stamp "${reason}" was noted: there were too many.`,
    ),
  );
}

function noneOf({ keptDays }: RecordHistory): string {
  if (keptDays === 0) return 'No re-stamp is noted: RESTAMP_HISTORY_DAYS is 0.';
  return `No re-stamp is noted in the last ${counted(keptDays, 'day')}.`;
}
