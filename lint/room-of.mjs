/**
 * The rooms of a path below `src/`: the longest name in the table that the path begins with. Pure, so that the lint rule
 * and the test of the table see the same.
 */
import { posix } from 'node:path';

/** The room of a file such as `src/replication/feed/page/page-items.ts`; undefined outside of all rooms. */
export function roomOf(path, names) {
  const inner = path.startsWith('src/') ? path.slice('src/'.length) : undefined;
  if (inner === undefined) return undefined;
  return names
    .filter((name) => inner.startsWith(`${name}/`))
    .sort((one, other) => other.length - one.length)[0];
}

/** The file, from the root, that a relative import of another file means. */
export function imported(path, specifier) {
  return posix.join(posix.dirname(path), specifier).replace(/\.js$/, '.ts');
}
