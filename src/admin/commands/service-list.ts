import { filterJson, listServices } from '../../administration/index.js';
import {
  type Filter,
  filterFault,
  isEnabled,
  isNamed,
  effortFault,
  type ServiceKey,
  type StoredService,
} from '../../application/index.js';
import { defineCommand } from '../command.js';
import { choiceOf, nameOf } from '../options.js';
import { cell, table } from '../print.js';
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
    const rows = services.map((service) => [
      ...[service.organizationid, service.appid, service.kind, service.name].map(cell),
      stateOf(service),
      cell(service.filter),
    ]);
    return {
      text: table(['ORG', 'APP', 'KIND', 'NAME', 'STATE', 'FILTER'], rows, 'There is no such service.'),
      json: services.map((service) => ({
        ...service,
        filter: filterJson(service.filter),
        state: stateOf(service),
      })),
    };
  },
});

function stateOf(service: StoredService): string {
  if (!isNamed(service)) return 'not served: its names are not valid';
  if (!isEnabled(service)) return 'off';
  if (filterFault(service.filter) !== undefined) return 'not valid';
  return effortFault(service.filter as Filter) === undefined ? 'on' : 'on, but it may take long';
}
