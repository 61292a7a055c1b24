import { filterJson, leftOutText, listServices } from '../../administration/plain.js';
import {
  type Filter,
  filterFault,
  isEnabled,
  isNamed,
  effortFault,
  type ServiceKey,
  type StoredService,
} from '../../application/plain.js';
import { count, FatalError } from '../../common/index.js';
import type { Run } from '../command.js';
import type { serviceList } from '../descriptions/service.js';
import { choiceOf, nameOf } from '../option-values.js';
import { cell, table } from '../print.js';
import { databaseOf } from '../session.js';
import { KINDS } from '../../record/index.js';

/** Of all services together (BSON). */
const MOST_BYTES = 32 * 1024 * 1024;

export const run: Run<typeof serviceList> = async (context, { org, app, kind }) => {
  const which: Partial<ServiceKey> = {
    ...(org !== undefined && { organizationid: nameOf('org', org) }),
    ...(app !== undefined && { appid: nameOf('app', app) }),
  };
  const only = kind === undefined ? undefined : choiceOf('kind', kind, KINDS);
  const { services: all, leftOut } = await listServices(databaseOf(await context.connected()), {
    which,
    assertRoom,
  });
  const services = only === undefined ? all : all.filter((one) => one.kind === only);
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
    ...(leftOut.length > 0 && { failure: `Left out: ${leftOut.map(leftOutText).join(' ')}` }),
  };
};

function assertRoom(bytes: number): void {
  if (bytes > MOST_BYTES)
    throw new FatalError(
      `The services have ${count(bytes)} bytes; at most ${count(MOST_BYTES)} bytes are listed at once. List one application at a time, with --org and --app.`,
    );
}

function stateOf(service: StoredService): string {
  if (!isNamed(service)) return 'not served: its names are not valid';
  if (!isEnabled(service)) return 'off';
  if (filterFault(service.filter) !== undefined) return 'not valid';
  return effortFault(service.filter as Filter) === undefined ? 'on' : 'on, but it may take long';
}
