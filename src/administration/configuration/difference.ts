import { differing, type Thing } from './things.js';

/** What has to be done so that what is stored is what is wanted. */
export type PlannedChange = Pick<Thing, 'name' | 'pointer'> & {
  action: 'create' | 'change' | 'remove';
  /** The thing as it is wanted; one that is to be removed, as it is stored. */
  thing: Thing;
  /** Its fields that are set to another value, by name. */
  changed: string[];
};

/** What to do, and what is stored beside it and stays. */
export interface PlannedChanges {
  changes: PlannedChange[];
  untold: Thing[];
}

/**
 * Compares what is stored with what is wanted, thing by thing. What is stored and not wanted is removed where `isPruned`
 * says so; else it stays, and is told of. Removals come last, services before their applications.
 */
export function differenceBetween(stored: Thing[], wanted: Thing[], isPruned: boolean): PlannedChanges {
  const known = new Map(stored.map((thing) => [thing.name, thing]));
  const told = new Set(wanted.map(({ name }) => name));
  const untold = stored.filter(({ name }) => !told.has(name));
  const changes = wanted.flatMap((thing): PlannedChange[] => {
    const before = known.get(thing.name);
    const changed = differing(thing.fields, before?.fields ?? {});
    if (before !== undefined && changed.length === 0) return [];
    return [changeOf(before === undefined ? 'create' : 'change', thing, changed)];
  });
  const removed = [...untold].reverse().map((thing) => changeOf('remove', thing, []));
  return isPruned ? { changes: [...changes, ...removed], untold: [] } : { changes, untold };
}

function changeOf(action: PlannedChange['action'], thing: Thing, changed: string[]): PlannedChange {
  return { action, name: thing.name, pointer: thing.pointer, thing, changed };
}
