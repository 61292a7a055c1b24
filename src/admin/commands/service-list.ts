import { defineCommand } from '../command.js';
import { filterJson } from '../filter-text.js';
import { choiceOf, nameOf } from '../options.js';
import { table } from '../print.js';
import { listServices, type ServiceKey } from '../services.js';
import { databaseOf } from '../session.js';
import { KINDS } from '../../record/index.js';

export const serviceList = defineCommand({
  name: 'service list',
  summary: 'Show the services with their filters',
  options: {
    org: { value: 'ORG', description: 'of this organization only' },
    app: { value: 'APP', description: 'of this application only' },
    kind: { value: 'member|product', description: 'of this kind only' },
  },
  async run(context, { org, app, kind }) {
    const wanted: Partial<ServiceKey> = {
      ...(org !== undefined && { organizationid: nameOf('org', org) }),
      ...(app !== undefined && { appid: nameOf('app', app) }),
      ...(kind !== undefined && { kind: choiceOf('kind', kind, KINDS) }),
    };
    const services = await listServices(databaseOf(await context.connected()), wanted);
    const shown = services.map((service) => ({ ...service, filter: filterJson(service.filter) }));
    const rows = shown.map(({ organizationid, appid, kind: ofKind, name, enabled, filter }) => [
      organizationid,
      appid,
      ofKind,
      name,
      enabled === false ? 'off' : 'on',
      JSON.stringify(filter),
    ]);
    return {
      text: table(['ORG', 'APP', 'KIND', 'NAME', 'STATE', 'FILTER'], rows, 'There is no such service.'),
      json: shown,
    };
  },
});
