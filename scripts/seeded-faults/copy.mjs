/** A temporary copy of the working state, in which faults can be seeded: the checkout itself is only read. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync } from 'node:fs';
import { rmSync, statSync, symlinkSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** What a build has left, so that only what has changed since is built. */
const BUILT = ['dist', 'client/dist', 'conformance/dist'];
const WITH_MODULES = ['.', 'client', 'conformance', 'console'];
/** What tools write among the modules: each copy has its own. */
const WRITTEN = ['.cache', '.vite', '.vite-temp'];

/** Makes the copy of a checkout and builds it; answers its path. Throws where it cannot be built. */
export function copyOf(root) {
  const copy = mkdtempSync(join(tmpdir(), 'tidemark-seeded-faults-'));
  try {
    for (const path of filesOf(root)) copyFile(join(root, path), join(copy, path));
    for (const path of BUILT.filter((one) => existsSync(join(root, one)))) {
      mkdirSync(dirname(join(copy, path)), { recursive: true });
      cpSync(join(root, path), join(copy, path), { recursive: true, preserveTimestamps: true });
    }
    for (const path of WITH_MODULES) linkModules(join(root, path), join(copy, path));
    keepTimes(root, copy);
    const build = spawnSync(process.execPath, ['scripts/build.mjs'], { cwd: copy, stdio: 'inherit' });
    if (build.status !== 0) throw new Error('The service cannot be built.');
    return copy;
  } catch (error) {
    removeCopy(copy);
    throw error;
  }
}

export function removeCopy(copy) {
  rmSync(copy, { recursive: true, force: true, maxRetries: 5 });
}

/** What is committed, and what would be: nothing that is ignored. */
function filesOf(root) {
  const listed = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const { stdout, status } = spawnSync('git', listed, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 });
  if (status !== 0) throw new Error('git cannot list the files of the checkout.');
  return stdout.split('\0').filter((path) => path !== '' && existsSync(join(root, path)));
}

function copyFile(from, to) {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to, { preserveTimestamps: true, verbatimSymlinks: true });
}

/** A link for each module. Those that lead to a package of this repository lead to the copy's own. */
function linkModules(from, to) {
  const modules = join(from, 'node_modules');
  if (!existsSync(modules)) return;
  for (const name of readdirSync(modules).filter((one) => !WRITTEN.includes(one)))
    if (name.startsWith('@')) {
      for (const inner of readdirSync(join(modules, name)))
        link(join(modules, name, inner), join(to, 'node_modules', name, inner));
    } else link(join(modules, name), join(to, 'node_modules', name));
}

function link(from, to) {
  mkdirSync(dirname(to), { recursive: true });
  symlinkSync(lstatSync(from).isSymbolicLink() ? readlinkSync(from) : from, to);
}

/** A build takes a folder that is newer than what was built for a change. */
function keepTimes(root, copy) {
  const folders = readdirSync(copy, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
  for (const folder of folders) {
    const original = join(root, folder.slice(copy.length));
    if (!existsSync(original)) continue;
    const { atime, mtime } = statSync(original);
    utimesSync(folder, atime, mtime);
  }
}
