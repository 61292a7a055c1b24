import type { Filter } from '../../../src/application/filter.js';
import type { ModelWorld } from '../world/world.js';
import { APPLICATION, APPLICATIONS, type ModelService } from '../world/documents.js';

/** The service of an application whose filter is edited. */
export function serviceOf(appid: string): string {
  return `colors of ${appid}`;
}

export function applicationOf(service: string): string {
  return service.slice(-1);
}

const FILTERS: Filter[] = [{ color: 'red' }, { color: 'blue' }, {}];
const REFUSED = { $where: 'true' };

/** Edits, disables, removes or spoils the filter. */
export function operate(world: ModelWorld): void {
  const { database, dice, profile } = world;
  const service = serviceOf(profile.lanes ? dice.pick(APPLICATIONS) : APPLICATION);
  const present = database.now.services.get(service);
  const filter = someFilter(world);
  const edit = profile.everNew ? { filter, enabled: true } : dice.pick(editsTo(filter));
  if (edit === undefined && present === undefined) return;
  database.write('edits the filter', (tx) => tx.writeService(service, edit));
}

/** Puts filters that work in place of those that do not. */
export function putRight(world: ModelWorld): void {
  for (const appid of world.profile.lanes ? APPLICATIONS : [APPLICATION])
    putServiceRight(world, serviceOf(appid));
}

function putServiceRight(world: ModelWorld, name: string): void {
  const { database } = world;
  const present = database.now.services.get(name);
  if (present?.enabled === true && present.filter !== REFUSED) return;
  const service = { filter: someFilter(world), enabled: true };
  database.write('puts the filter right', (tx) => tx.writeService(name, service));
}

function editsTo(filter: Filter): (ModelService | undefined)[] {
  const on = { filter, enabled: true };
  return [on, on, { filter, enabled: false }, undefined, { filter: REFUSED, enabled: true }];
}

/** One of a few, so that filters come back; where none may, the same with a condition that no record meets. */
function someFilter(world: ModelWorld): Filter {
  const filter = world.dice.pick(FILTERS);
  return world.profile.everNew ? { $or: [filter, { text: -world.newText() }] } : filter;
}
