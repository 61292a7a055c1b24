/** Builds the console's page, and does nothing where nothing has changed, or where Vite is not installed. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const vite = 'node_modules/vite/bin/vite.js';
const page = 'dist/administration/console/pages/index.html';

/** Whether the page is there and newer than its source, after building it where it was not. */
export function buildConsole() {
  if (!existsSync(vite) || isFresh()) return true;
  const build = [join('..', vite), 'build', '--logLevel', 'warn'];
  const env = { ...process.env, NODE_ENV: 'production' };
  return spawnSync(process.execPath, build, { cwd: 'console', env, stdio: 'inherit' }).status === 0;
}

function isFresh() {
  if (!existsSync(page)) return false;
  const built = statSync(page).mtimeMs;
  const sources = readdirSync('console', { recursive: true }).map((name) => join('console', name));
  return [...sources, 'package-lock.json'].every((path) => statSync(path).mtimeMs <= built);
}
