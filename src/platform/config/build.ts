import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The folder with `package.json` and `dist/`. This module is equally deep in `src/`, in `dist/` and in a package. */
const ROOT = join(import.meta.dirname, '..', '..', '..');

/** What this program was built from, and what runs it. */
export interface Build {
  /** Of the package. */
  version: string;
  /** The commit, with `-dirty` if files differed from it; `unknown` if the build found no repository. */
  commit: string;
  /** Of Node, such as `v24.1.0`. */
  node: string;
}

/** The build in a folder: its `package.json`, and the file that `npm run build` writes. */
export function buildIn(folder: string): Build {
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
  return { version, commit: commitIn(folder), node: process.version };
}

let known: Build | undefined;

/** The build of this program. */
export function thisBuild(): Build {
  return (known ??= buildIn(ROOT));
}

/** Such as `0.1.0 (commit 1a2b3c4d5e6f, Node v24.1.0)`. */
export function versionInWords({ version, commit, node } = thisBuild()): string {
  return `${version} (commit ${commit}, Node ${node})`;
}

function commitIn(folder: string): string {
  try {
    return readFileSync(join(folder, 'dist', 'commit'), 'utf8').trim();
  } catch {
    return 'unknown';
  }
}
