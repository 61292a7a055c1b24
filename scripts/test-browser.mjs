/** `npm run test:browser`: the console in a real Chromium, on the real service and a real database. */
import { spawnSync } from 'node:child_process';
import { installChromium } from './chromium.mjs';

const jest = ['node_modules/jest/bin/jest.js', '--selectProjects', 'browser', '--maxWorkers=2'];
const args = process.argv.slice(2);
process.exitCode = (await installChromium())
  ? (spawnSync(process.execPath, [...jest, ...args], { stdio: 'inherit' }).status ?? 1)
  : 1;
