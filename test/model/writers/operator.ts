import type { Filter } from '../../../src/application/filter.js';
import type { ModelWorld } from '../world/world.js';
import type { ModelService } from '../world/documents.js';

/** The service whose filter is edited. */
export const SERVICE = 'colors';

const FILTERS: Filter[] = [{ color: 'red' }, { color: 'blue' }, {}];
const REFUSED = { $where: 'true' };

/** Edits, disables, removes or spoils the filter. */
export function operate(world: ModelWorld): void {
  const { database, dice, profile } = world;
  const present = database.now.services.get(SERVICE);
  const filter = someFilter(world);
  const edit = profile.everNew ? { filter, enabled: true } : dice.pick(editsTo(filter));
  if (edit === undefined && present === undefined) return;
  database.write('edits the filter', (tx) => tx.writeService(SERVICE, edit));
}

/** Puts a filter that works in place of one that does not. */
export function putRight(world: ModelWorld): void {
  const { database } = world;
  const present = database.now.services.get(SERVICE);
  if (present?.enabled === true && present.filter !== REFUSED) return;
  const service = { filter: someFilter(world), enabled: true };
  database.write('puts the filter right', (tx) => tx.writeService(SERVICE, service));
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
