/** `npm run test:metrics`: what Prometheus says of the metrics of a real service, and of the alerts. */
import { spawnSync } from 'node:child_process';
import { installPromtool } from './promtool.mjs';

const jest = ['node_modules/jest/bin/jest.js', '--selectProjects', 'metrics'];
const args = process.argv.slice(2);
process.exitCode = (await installPromtool())
  ? (spawnSync(process.execPath, [...jest, ...args], { stdio: 'inherit' }).status ?? 1)
  : 1;
