import { assertApplication } from '../../administration/index.js';
import { defineCommand } from '../command.js';
import { APPLICATION, KIND, kindOf, tenantOf } from '../options.js';
import { counted } from '../print.js';
import { resyncRecords, resyncSize } from '../resync.js';
import { databaseOf } from '../session.js';

export const resync = defineCommand({
  name: 'resync',
  summary: 'Make consumers receive every record and every hard delete again',
  options: { ...APPLICATION, ...KIND },
  notes: [
    'Every record of the application and kind gets a new lastupdated, and so does every hard delete; nothing else is changed.',
    'It can be interrupted; run again, it begins anew.',
  ],
  async run(context, values) {
    const scope = { tenant: tenantOf(values), kind: kindOf(values) };
    const db = databaseOf(await context.prepared());
    await assertApplication(db, scope.tenant);
    const progress = context.progress(await resyncSize(db, scope), 'records');
    const stop = context.terminal.interruptible();
    const onProgress = (done: number) => progress.at(done, done);
    const summary = await resyncRecords(db, scope, { stop, onProgress }).finally(() => progress.end());
    const { records, tombstones } = summary;
    return {
      text: `${counted(records, 'record')} and ${counted(tombstones, 'hard delete')} stamped anew.`,
      json: summary,
      failure: stop.aborted ? 'Interrupted: not everything is stamped anew. Run it again.' : undefined,
    };
  },
});
