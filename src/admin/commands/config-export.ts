import { configurationFile, configurationJson, storedConfiguration } from '../../administration/plain.js';
import type { Run } from '../command.js';
import { reachOf } from '../configuration-plan.js';
import type { configExport } from '../descriptions/configuration.js';
import { asIs } from '../layout.js';
import { databaseOf } from '../session.js';

export const run: Run<typeof configExport> = async (context, options) => {
  const reach = reachOf(options);
  const db = databaseOf(await context.connected());
  const { configuration, leftOut } = await storedConfiguration(db, reach);
  return { text: asIs(configurationFile(configuration, leftOut)), json: configurationJson(configuration) };
};
