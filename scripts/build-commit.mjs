/** Writes the commit that is built to `dist/commit`, for `--version`, the log and the metrics. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const describe = ['describe', '--always', '--dirty', '--abbrev=12', '--exclude=*'];

/** Without a repository, such as in the build of an image, `TIDEMARK_COMMIT` names the commit. */
export function writeCommit(folder = '.', named = process.env.TIDEMARK_COMMIT) {
  const file = join(folder, 'dist', 'commit');
  const commit = commitOf(folder) || named || 'unknown';
  if (existsSync(file) && readFileSync(file, 'utf8') === commit) return;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, commit);
}

/** A folder inside the repository of another project has no commit of its own. */
function commitOf(folder) {
  if (!existsSync(join(folder, '.git'))) return '';
  const { status, stdout } = spawnSync('git', describe, { cwd: folder, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : '';
}
