import type { mongo } from 'mongoose';
import { kindNames } from '../../../kinds/index.js';
import { noteRestore } from '../../../replication/store/plain.js';
import { RestampBook } from '../../../replication/watcher/plain.js';
import { listApplications, recordAction } from '../../plain.js';
import type { CommandContext, Run } from '../command.js';
import { dateOf } from '../input.js';
import { NotStampedAll, notStampedText } from '../not-stamped.js';
import type { restored } from '../operation-descriptions.js';
import { deskOn } from '../session.js';
import { counted } from '../table.js';
import { type Between, resyncRecords, type Stamped } from '../restamping.js';

/** Records that the database was restored (contract §3, `source-restored`). */
export const runRestored: Run<typeof restored> = async (context, { backup }) => {
  const before = backup === undefined ? undefined : dateOf('backup', backup);
  const connection = await context.prepared();
  const restore = await noteRestore(connection, before);
  const changeContext = deskOn(context, connection);
  const { db } = changeContext;
  const [after, until] = [restore.after.toISOString(), restore.until.toISOString()];
  const target = `times after ${after} and before ${until}`;
  await recordAction(changeContext, { action: 'database.restored', target });
  const notStamped = new NotStampedAll(db);
  const stop = context.terminal.interruptible();
  const stamped = await stampGap(db, restore, { context, notStamped, stop });
  const summary = { ...stamped, ...notStamped.summary };
  return {
    text:
      `Times after ${after} and before ${until} are answered 410 source-restored: the consumers that have them begin ` +
      `again. ${counted(stamped.records, 'record')} and ${counted(stamped.tombstones, 'hard delete')} of that time stamped anew.`,
    json: { ...restore, ...summary },
    failure: stop.aborted ? interruptedText(after) : notStampedText(summary),
  };
};

/** Times that were announced since then must not count as those of the backup. */
function interruptedText(after: string): string {
  return `Interrupted: some are not stamped yet. Run it again, with --backup ${after}.`;
}

/**
 * Gives new stamps to everything that was stamped in the time that belongs to the replaced database. Otherwise `max` could be
 * such a time, and a consumer that continues from it would begin again for ever.
 */
async function stampGap(
  db: mongo.Db,
  between: Between,
  { context, notStamped, stop }: { context: CommandContext; notStamped: NotStampedAll; stop: AbortSignal },
): Promise<Stamped> {
  const book = new RestampBook(context.settings.restampHistoryDays);
  const sum = { records: 0, tombstones: 0 };
  for (const { organizationid, appid } of await listApplications(db)) {
    if (typeof organizationid !== 'string' || typeof appid !== 'string') continue;
    for (const kind of kindNames()) {
      const scope = { tenant: { organizationid, appid }, kind };
      const ways = { between, stop, onProgress: () => undefined, book, notStamped };
      const done = await resyncRecords(db, scope, ways);
      sum.records += done.records;
      sum.tombstones += done.tombstones;
    }
  }
  return sum;
}
