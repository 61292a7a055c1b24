/** Compiles the client's package, and does nothing where nothing has changed. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

const compiler = 'node_modules/typescript/bin/tsc';
const target = 'client/dist';
const entry = join(target, 'index.js');

/** Whether the package is compiled, after compiling it where it was not. What is there of sources that are gone goes first. */
export function buildClient() {
  if (isFresh()) return true;
  rmSync(target, { recursive: true, force: true });
  const compile = [compiler, '-p', 'client/tsconfig.json'];
  return spawnSync(process.execPath, compile, { stdio: 'inherit' }).status === 0;
}

function isFresh() {
  if (!existsSync(entry)) return false;
  const built = statSync(entry).mtimeMs;
  const sources = readdirSync('client/src', { recursive: true }).map((name) => join('client/src', name));
  return ['client/src', 'client/tsconfig.json', 'package-lock.json', ...sources].every(
    (path) => statSync(path).mtimeMs <= built,
  );
}
