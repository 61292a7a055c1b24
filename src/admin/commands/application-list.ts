import { listApplications, type StoredApplication } from '../../administration/plain.js';
import type { Application } from '../../application/index.js';
import { NAME } from '../../common/index.js';
import type { Run } from '../command.js';
import type { applicationList } from '../descriptions/application.js';
import { cell, table } from '../print.js';
import { databaseOf } from '../session.js';

export const run: Run<typeof applicationList> = async (context) => {
  const applications = await listApplications(databaseOf(await context.connected()));
  const rows = applications.map((application) => [
    ...[application.organizationid, application.appid, application.title].map(cell),
    stateOf(application),
    settingsOf(application.settings),
  ]);
  return {
    text: table(['ORG', 'APP', 'TITLE', 'STATE', 'SETTINGS'], rows, 'There is no application yet.'),
    json: applications.map((application) => ({ ...application, state: stateOf(application) })),
  };
};

function stateOf({ organizationid, appid }: StoredApplication): string {
  return [organizationid, appid].every(isName) ? 'valid' : 'opens nothing: its names are not valid';
}

function isName(stored: unknown): boolean {
  return typeof stored === 'string' && NAME.test(stored);
}

function settingsOf(settings: unknown): string {
  const hashes = (settings as Application['settings'] | null)?.replicatepasswordhash;
  return hashes === true ? 'replicates password hashes' : '';
}
