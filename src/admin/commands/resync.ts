import { assertApplication } from '../../administration/plain.js';
import { count } from '../../common/index.js';
import { RestampBook } from '../../replication/stamping/plain.js';
import type { Run } from '../command.js';
import type { resync } from '../descriptions/operation.js';
import { noted, noteRecords } from '../note-records.js';
import { notStampedText } from '../not-stamped.js';
import { kindOf, tenantOf } from '../option-values.js';
import { counted } from '../print.js';
import { resyncRecords, resyncSize } from '../resync.js';
import { deskOn } from '../session.js';

export const run: Run<typeof resync> = async (context, values) => {
  const scope = { tenant: tenantOf(values), kind: kindOf(values) };
  const desk = deskOn(context, await context.prepared());
  await assertApplication(desk.db, scope.tenant);
  const size = await resyncSize(desk.db, scope);
  const stop = context.terminal.interruptible();
  const progress = context.progress(size, 'records');
  let reached = 0;
  const onProgress = (done: number) => progress.at((reached = done), done);
  const book = new RestampBook(context.settings.restampHistoryDays);
  const work = resyncRecords(desk.db, scope, { stop, onProgress, book }).finally(() => progress.end());
  const summary = await noted(work, (done) =>
    noteRecords(desk, scope, {
      action: 'record.resync',
      target: `${scope.kind}s: ${count(done ? done.records + done.tombstones : reached)} records and hard deletes`,
    }),
  );
  const { records, tombstones } = summary;
  return {
    text: `${counted(records, 'record')} and ${counted(tombstones, 'hard delete')} stamped anew.`,
    json: summary,
    failure: stop.aborted ? 'Interrupted: some are not stamped yet. Run it again.' : notStampedText(summary),
  };
};
