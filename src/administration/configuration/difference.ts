import type { Steps } from '../../common/index.js';
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
export function* differenceBetween(
  stored: Thing[],
  wanted: Thing[],
  isPruned: boolean,
): Steps<PlannedChanges> {
  const known = new Map(stored.map((thing) => [thing.name, thing]));
  const changes: PlannedChange[] = [];
  for (const thing of wanted) {
    const before = known.get(thing.name);
    const changed = differing(thing.fields, before?.fields ?? {});
    if (before === undefined) changes.push(changeOf('create', thing, changed));
    else if (changed.length > 0) changes.push(changeOf('change', thing, changed));
    known.delete(thing.name);
    yield;
  }
  const untold = [...known.values()];
  if (!isPruned) return { changes, untold };
  for (const thing of untold.reverse()) changes.push(changeOf('remove', thing, []));
  return { changes, untold: [] };
}

function changeOf(action: PlannedChange['action'], thing: Thing, changed: string[]): PlannedChange {
  return { action, name: thing.name, pointer: thing.pointer, thing, changed };
}
