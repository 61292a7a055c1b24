import { statusOf } from '../../administration/plain.js';
import type { Run } from '../command.js';
import type { status } from '../descriptions/operation.js';
import { statusText } from '../status-lines.js';

export const run: Run<typeof status> = async (context) => {
  const { database, ...found } = await statusOf(await context.connected());
  const uri = await context.embeddedUri();
  return {
    text: statusText({ database, ...found }, uri),
    json: { database: { ...database, ...(uri !== undefined && { uri }) }, ...found },
  };
};
