import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const longestMs = 5 * 60_000;

/** Whether a program is there in the end, where a package of Debian has it and this is a Debian and its root. */
export function installFromDebian(name, executable) {
  return installPackage(name, () => existsSync(executable));
}

/** The same for what is no program. */
export function installPackage(name, isThere) {
  if (isThere()) return true;
  if (process.getuid?.() !== 0) return false;
  console.log(`\n== ${name}, from the packages of Debian`);
  aptGet('update');
  aptGet('install', '--yes', '--no-install-recommends', name);
  return isThere();
}

function aptGet(...args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  spawnSync('apt-get', ['-qq', ...args], { env, stdio: 'ignore', timeout: longestMs });
}
