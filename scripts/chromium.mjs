/** Finds a Chromium for the browser tests, and installs Debian's package where there is none and that can be done. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const executable = process.env.CHROMIUM ?? '/usr/bin/chromium';
const longestMs = 5 * 60_000;

/** Whether there is one in the end; says so where there is none. */
export function installChromium() {
  if (existsSync(executable)) return true;
  if (process.env.CHROMIUM === undefined && process.getuid?.() === 0) {
    console.log('\n== Chromium, from the packages of Debian');
    aptGet('update');
    aptGet('install', '--yes', '--no-install-recommends', 'chromium');
    if (existsSync(executable)) return true;
  }
  console.log(
    `\nThe browser tests CANNOT RUN HERE: there is no ${executable}, and it cannot be installed. Install the package ` +
      'chromium of Debian, or name a browser with CHROMIUM.',
  );
  return false;
}

function aptGet(...args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  spawnSync('apt-get', ['-qq', ...args], { env, stdio: 'ignore', timeout: longestMs });
}
