import { statusOf } from '../../administration/index.js';
import { defineCommand } from '../command.js';
import { statusLines } from '../status-lines.js';

export const status = defineCommand({
  name: 'status',
  summary: 'Show the database, its indexes, the watcher, what it did, and duplicate e-mails',
  options: {},
  async run(context) {
    const found = await statusOf(await context.connected());
    return { text: statusLines(found).join('\n'), json: found };
  },
});
