/**
 * `npm run test:connectors`: foreign tools harvest from the real service. `--records` says how many records the source has;
 * of them 5 %, but 1,000 at most, leave the filter, and as many are deleted.
 */
import { spawnSync } from 'node:child_process';
import { installConnectors } from './connectors.mjs';

const args = process.argv.slice(2);
const at = args.indexOf('--records');
const [, records] = at === -1 ? [] : args.splice(at, 2);
const env = { ...process.env, ...(records && { TIDEMARK_CONNECTORS_RECORDS: records }) };
const jest = ['node_modules/jest/bin/jest.js', '--selectProjects', 'connectors', '--maxWorkers=2'];
process.exitCode = (await installConnectors())
  ? (spawnSync(process.execPath, [...jest, ...args], { stdio: 'inherit', env }).status ?? 1)
  : 1;
