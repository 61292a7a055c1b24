import { literal } from '../../common/index.js';

/** Stands for "no value": what is stored goes away. */
export const REMOVED = Symbol('removed');

/** One value of a record that becomes another; the path is the names from the top of the record down. */
export interface Change {
  path: string[];
  value: unknown;
}

type Tree = Map<string, unknown>;

/**
 * The body of a `$set` stage that makes the changes and touches nothing beside them. Names nest instead of being
 * joined with dots, so that long ones do not repeat; Maps keep the order and are safe with any name.
 */
export function setOf(changes: Change[]): Tree {
  const tree: Tree = new Map();
  for (const { path, value } of changes) {
    const last = path.at(-1) as string;
    branchAt(tree, path.slice(0, -1)).set(last, value === REMOVED ? '$$REMOVE' : literal(value));
  }
  return tree;
}

function branchAt(tree: Tree, path: string[]): Tree {
  let branch = tree;
  for (const name of path) {
    if (!branch.has(name)) branch.set(name, new Map());
    branch = branch.get(name) as Tree;
  }
  return branch;
}
