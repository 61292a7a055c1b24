/**
 * Compiles what has changed, and does nothing where nothing has. An installation without TypeScript
 * (`npm ci --omit=dev`) serves what was built before.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { assemble } from './assemble.mjs';
import { buildClient } from './build-client.mjs';
import { buildConsole } from './build-console.mjs';

const compiler = 'node_modules/typescript/bin/tsc';
const state = 'dist/.tsbuildinfo';
/** What the package installs as a program. */
const program = 'dist/cli.js';

if (!existsSync(compiler)) {
  if (!existsSync('dist/main.js')) {
    console.error('Nothing is built, and TypeScript is not installed: run npm ci, then npm run build.');
    process.exitCode = 1;
  }
} else if (!assemble() || !buildConsole() || !buildClient()) {
  process.exitCode = 1;
} else if (!isFresh()) {
  const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
    stdio: 'inherit',
  });
  if (status !== 0) rmSync(state, { force: true });
  if (existsSync(program)) chmodSync(program, 0o755);
  process.exitCode = status ?? 1;
}

function isFresh() {
  if (!existsSync(state) || !existsSync('dist/main.js')) return false;
  const built = statSync(state).mtimeMs;
  const sources = readdirSync('src', { recursive: true }).map((name) => join('src', name));
  return ['src', 'tsconfig.json', 'tsconfig.build.json', 'package-lock.json', ...sources].every(
    (path) => statSync(path).mtimeMs <= built,
  );
}
