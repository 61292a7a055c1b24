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

/** The last day of support for each line of Node, as its release schedule has it. */
const LAST_DAYS: Record<string, string> = {
  20: '2026-04-30',
  21: '2024-06-01',
  22: '2027-04-30',
  23: '2025-06-01',
  24: '2028-04-30',
  25: '2026-06-01',
  26: '2029-04-30',
};

/** A sentence for the operator if Node's own support for this version has ended; otherwise undefined. */
export function endedSupport(version = process.versions.node, now = new Date()): string | undefined {
  const [line = ''] = version.split('.');
  const today = now.toISOString().slice(0, 10);
  const last = LAST_DAYS[line];
  if (last === undefined || today <= last) return undefined;
  const [longest] = Object.entries(LAST_DAYS).toSorted(([, one], [, other]) => (one < other ? 1 : -1));
  const better = longest !== undefined && longest[1] >= today ? `Node ${longest[0]}` : 'a later one';
  return (
    `The support of Node ${line} ended on ${last}: this version (${version}) gets no more fixes, not even for security. ` +
    `Run the service on ${better}.`
  );
}
