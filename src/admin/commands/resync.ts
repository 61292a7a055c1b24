import { assertApplication } from '../../administration/plain.js';
import { count } from '../../common/index.js';
import { RestampBook } from '../../replication/stamping/plain.js';
import { defineCommand } from '../command.js';
import { noted, noteRecords } from '../note-records.js';
import { notStampedText } from '../not-stamped.js';
import { APPLICATION, KIND, kindOf, tenantOf } from '../options.js';
import { counted } from '../print.js';
import { resyncRecords, resyncSize } from '../resync.js';
import { deskOn } from '../session.js';

export const resync = defineCommand({
  name: 'resync',
  summary: 'Make consumers receive every record and every hard delete again',
  options: { ...APPLICATION, ...KIND },
  notes: [
    'Every record of the application and kind gets a new lastupdated, and so does every hard delete; nothing else is changed.',
    'It can be interrupted; run again, it begins anew.',
    'What cannot be stamped is named and set aside, the exit code is 1, and the service stamps it once it can.',
  ],
  async run(context, values) {
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
      failure: stop.aborted
        ? 'Interrupted: some are not stamped yet. Run it again.'
        : notStampedText(summary),
    };
  },
});
