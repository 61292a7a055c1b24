import { statusOf } from '../../administration/plain.js';
import { defineCommand } from '../command.js';
import { statusText } from '../status-lines.js';

export const status = defineCommand({
  name: 'status',
  summary: 'Show the database, its indexes, the watcher, what it did, and duplicate e-mails',
  options: {},
  async run(context) {
    const { database, ...found } = await statusOf(await context.connected());
    const uri = await context.embeddedUri();
    return {
      text: statusText({ database, ...found }, uri),
      json: { database: { ...database, ...(uri !== undefined && { uri }) }, ...found },
    };
  },
});
