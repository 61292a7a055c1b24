import { listApplications } from '../applications.js';
import { defineCommand } from '../command.js';
import { table } from '../print.js';
import { databaseOf } from '../session.js';

export const applicationList = defineCommand({
  name: 'application list',
  summary: 'Show the applications',
  options: {},
  async run(context) {
    const applications = await listApplications(databaseOf(await context.connected()));
    const rows = applications.map(({ organizationid, appid, title, settings }) => [
      organizationid,
      appid,
      title ?? '',
      settings?.replicatepasswordhash === true ? 'replicates password hashes' : '',
    ]);
    return {
      text: table(['ORG', 'APP', 'TITLE', 'SETTINGS'], rows, 'There is no application yet.'),
      json: applications,
    };
  },
});
