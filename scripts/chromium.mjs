/** Finds a Chromium for the browser tests, and installs Debian's package where there is none and that can be done. */
import { existsSync } from 'node:fs';
import { installPackage } from './apt.mjs';

const executable = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** Whether there is one in the end; says so where there is none. */
export async function installChromium() {
  const isThere = () => existsSync(executable);
  if (process.env.CHROMIUM === undefined ? await installPackage('chromium', isThere) : isThere()) return true;
  console.log(
    `\nThe browser tests CANNOT RUN HERE: there is no ${executable}, and it cannot be installed. Install the package ` +
      'chromium of Debian, or name a browser with CHROMIUM.',
  );
  return false;
}
