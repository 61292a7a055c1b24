/**
 * Compiles what has changed, and does nothing where nothing has. An installation without the development packages
 * (`npm prune --omit=dev`) serves what was built before.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { assemble } from './assemble.mjs';
import { copyAssets } from './build-assets.mjs';
import { writeCommit } from './build-commit.mjs';
import { buildConsole } from './build-console.mjs';
import { buildPackage } from './build-package.mjs';
import { bundle } from './bundle.mjs';

const compiler = 'node_modules/typescript-7/bin/tsc';
const assembler = 'node_modules/assemblyscript/bin/asc.js';
const bundler = 'node_modules/rolldown/dist/index.mjs';
const state = 'dist/.tsbuildinfo';

if (![compiler, assembler, bundler].every((path) => existsSync(path))) {
  if (!existsSync('dist/main.js')) {
    console.error(
      'The service is not built, and packages that build it are not installed, as with NODE_ENV=production: ' +
        'run npm ci --include=dev, then npm run build.',
    );
    process.exitCode = 1;
  }
} else if (
  !assemble() ||
  !buildConsole() ||
  !copyAssets() ||
  !compileService() ||
  !(await bundle()) ||
  !buildPackage('client') ||
  !buildPackage('conformance')
) {
  process.exitCode = 1;
} else writeCommit();

/** Whether the service is compiled, after compiling it where it was not. */
function compileService() {
  if (isFresh()) return true;
  const compile = [compiler, '-p', 'tsconfig.build.json'];
  const { status } = spawnSync(process.execPath, compile, { stdio: 'inherit' });
  if (status !== 0) rmSync(state, { force: true });
  // The compiler leaves it as it is where a newer file is the same as before.
  else utimesSync(state, new Date(), new Date());
  return status === 0;
}

function isFresh() {
  if (!existsSync(state) || !existsSync('dist/main.entry.js')) return false;
  const built = statSync(state).mtimeMs;
  const sources = readdirSync('src', { recursive: true }).map((name) => join('src', name));
  return ['src', 'tsconfig.json', 'tsconfig.build.json', 'package-lock.json', ...sources].every(
    (path) => statSync(path).mtimeMs <= built,
  );
}
