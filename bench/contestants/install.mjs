/** Peers live in a cache of the bench and are never dependencies of the project. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { run } from '../machine/processes.mjs';
import { say } from '../machine/say.mjs';

export const CACHE = resolve('.cache/bench');

const COMPILER = 'node_modules/typescript/bin/tsc';

/** Compiles a TypeScript program of the bench, by its directory. */
export function compiled(directory) {
  return run(process.execPath, [COMPILER, '-p', join(directory, 'tsconfig.json')]);
}

/** Installs exact versions from npm; answers the directory that holds them. */
export function npmInstalled(name, packages) {
  return installed(name, packages, (directory) => {
    writeFileSync(join(directory, 'package.json'), '{ "private": true }\n');
    const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel', 'error'];
    return run('npm', ['install', ...quiet, '--prefix', directory, ...packages]);
  });
}

/** Installs exact versions from PyPI into an environment of their own; answers its directory. */
export function pipInstalled(name, packages) {
  return installed(name, packages, async (directory) => {
    await run('python3', ['-m', 'venv', directory]);
    await run(join(directory, 'bin', 'pip'), [
      'install',
      '--quiet',
      '--disable-pip-version-check',
      ...packages,
    ]);
  });
}

async function installed(name, packages, install) {
  const directory = join(CACHE, name);
  const note = join(directory, 'installed.txt');
  const wanted = packages.join('\n');
  if (existsSync(note) && readFileSync(note, 'utf8') === wanted) return directory;
  say(`Installing ${packages.join(' ')}`);
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  await install(directory);
  writeFileSync(note, wanted);
  return directory;
}
