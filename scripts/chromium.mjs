/** Finds a Chromium for the browser tests, and installs Debian's package where there is none and that can be done. */
import { existsSync } from 'node:fs';
import { installPackage } from './apt.mjs';

/** Debian's packages and programs. The shell has no windows, and takes half of the CPU. */
const names = ['chromium-headless-shell', 'chromium'];
const programs = names.map((name) => `/usr/bin/${name}`);

/** The path of the Chromium that tests use: CHROMIUM, or else the first of Debian's that exists. */
export function chromiumPath() {
  return process.env.CHROMIUM ?? programs.find((path) => existsSync(path)) ?? programs[0];
}

/** Returns whether a Chromium exists in the end. If not, prints what to do. */
export async function installChromium() {
  const isThere = () => existsSync(chromiumPath());
  if (process.env.CHROMIUM === undefined) for (const name of names) await installPackage(name, isThere);
  if (isThere()) return true;
  console.log(
    `\nThe browser tests CANNOT RUN HERE: there is no ${chromiumPath()}, and it cannot be installed. Install the ` +
      `package ${names.join(' or ')} of Debian, or name a browser with CHROMIUM.`,
  );
  return false;
}
