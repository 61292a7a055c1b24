import { configurationFile, configurationJson, storedConfiguration } from '../../administration/plain.js';
import { defineCommand } from '../command.js';
import { NARROWED, reachOf } from '../configuration-plan.js';
import { asIs } from '../layout.js';
import { databaseOf } from '../session.js';

export const configExport = defineCommand({
  name: 'config export',
  summary: 'Print applications, services and credentials as a YAML file, without passwords',
  options: NARROWED,
  notes: ['npm run -s admin -- config export > tidemark.yaml'],
  async run(context, options) {
    const reach = reachOf(options);
    const db = databaseOf(await context.connected());
    const { configuration, leftOut } = await storedConfiguration(db, reach);
    return { text: asIs(configurationFile(configuration, leftOut)), json: configurationJson(configuration) };
  },
});
