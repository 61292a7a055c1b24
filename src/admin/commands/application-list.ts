import { listApplications } from '../../administration/index.js';
import type { Application } from '../../application/index.js';
import { NAME } from '../../common/index.js';
import { defineCommand } from '../command.js';
import { cell, table } from '../print.js';
import { databaseOf } from '../session.js';

export const applicationList = defineCommand({
  name: 'application list',
  summary: 'Show the applications',
  options: {},
  async run(context) {
    const applications = await listApplications(databaseOf(await context.connected()));
    const rows = applications.map(({ organizationid, appid, title, settings }) => [
      ...[organizationid, appid, title].map(cell),
      [organizationid, appid].every(isName) ? settingsOf(settings) : 'opens nothing: its names are not valid',
    ]);
    return {
      text: table(['ORG', 'APP', 'TITLE', 'SETTINGS'], rows, 'There is no application yet.'),
      json: applications,
    };
  },
});

function isName(stored: unknown): boolean {
  return typeof stored === 'string' && NAME.test(stored);
}

function settingsOf(settings: unknown): string {
  const hashes = (settings as Application['settings'] | null)?.replicatepasswordhash;
  return hashes === true ? 'replicates password hashes' : '';
}
