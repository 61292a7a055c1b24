import { collectionOf, pluralOfKind } from '../../../kinds/index.js';
import {
  rekeyApplication,
  createApplication,
  isName,
  listApplications,
  nameOfTenant,
  removeApplication,
  type StoredApplication,
} from '../../plain.js';
import type { Application } from '../../../application/index.js';
import type { Run } from '../command.js';
import type {
  applicationCreate,
  applicationList,
  applicationRemove,
  applicationRekey,
} from '../descriptions.js';
import { tenantOf } from '../input.js';
import { databaseOf, changeContextOf } from '../session.js';
import { cell, counted, table } from '../table.js';

export const runCreate: Run<typeof applicationCreate> = async (context, { title, ...names }) => {
  const tenant = tenantOf(names);
  await createApplication(changeContextOf(context, await context.prepared()), tenant, { title });
  return {
    text: `The application ${nameOfTenant(tenant)} is registered.`,
    json: { ...tenant, ...(title !== undefined && { title }) },
  };
};

export const runList: Run<typeof applicationList> = async (context) => {
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

export const runRemove: Run<typeof applicationRemove> = async (context, { purge, ...names }) => {
  const tenant = tenantOf(names);
  const removed = await removeApplication(changeContextOf(context, await context.connected()), tenant, {
    purge,
  });
  const counts = [...removed].map(([kind, count]) => counted(count, kind, pluralOfKind(kind)));
  const records = purge ? `, with ${counts.slice(0, -1).join(', ')} and ${counts.at(-1)}` : '';
  return {
    text: `The application ${nameOfTenant(tenant)} is removed${records}.`,
    json: {
      ...tenant,
      // By collection, because two kinds may have the same plural.
      removed: Object.fromEntries([...removed].map(([kind, count]) => [collectionOf(kind), count])),
    },
  };
};

export const runRekey: Run<typeof applicationRekey> = async (context, names) => {
  const tenant = tenantOf(names);
  await rekeyApplication(changeContextOf(context, await context.prepared()), tenant);
  const text = `${nameOfTenant(tenant)} has a new key for its hashes. All hashed values will be delivered again.`;
  return { text, json: tenant };
};

function stateOf({ organizationid, appid }: StoredApplication): string {
  return [organizationid, appid].every(isName) ? 'valid' : 'opens nothing: its names are not valid';
}

function settingsOf(settings: unknown): string {
  const hashes = (settings as Application['settings'] | null)?.replicatepasswordhash;
  return hashes === true ? 'replicates password hashes' : '';
}
