import { assertApplication } from '../../plain.js';
import { count } from '../../../platform/common/index.js';
import { RestampBook } from '../../../replication/watcher/plain.js';
import type { Run } from '../command.js';
import type { resync } from '../descriptions.js';
import { kindOf, tenantOf } from '../input.js';
import { NotStampedAll, notStampedText } from '../not-stamped.js';
import { resyncRecords, resyncSize } from '../restamping.js';
import { deskOn } from '../session.js';
import { counted } from '../table.js';
import { noted, noteRecords } from './records.js';

export const runResync: Run<typeof resync> = async (context, values) => {
  const scope = { tenant: tenantOf(values), kind: kindOf(values) };
  const changeContext = deskOn(context, await context.prepared());
  await assertApplication(changeContext.db, scope.tenant);
  const size = await resyncSize(changeContext.db, scope);
  const stop = context.terminal.interruptible();
  const progress = context.progress(size, 'records');
  let reached = 0;
  const onProgress = (done: number) => progress.at((reached = done), done);
  const book = new RestampBook(context.settings.restampHistoryDays);
  const notStamped = new NotStampedAll(changeContext.db);
  const work = resyncRecords(changeContext.db, scope, { stop, onProgress, book, notStamped }).finally(() =>
    progress.end(),
  );
  const stamped = await noted(work, (done) =>
    noteRecords(changeContext, scope, {
      action: 'record.resync',
      target: `${scope.kind}s: ${count(done ? done.records + done.tombstones : reached)} records and hard deletes`,
    }),
  );
  const { records, tombstones } = stamped;
  const summary = { ...stamped, ...notStamped.summary };
  return {
    text: `${counted(records, 'record')} and ${counted(tombstones, 'hard delete')} stamped anew.`,
    json: summary,
    failure: stop.aborted ? 'Interrupted: some are not stamped yet. Run it again.' : notStampedText(summary),
  };
};
