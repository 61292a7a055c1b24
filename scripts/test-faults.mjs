/**
 * `npm run test:faults -- [--seeds 20] [--operations 2000]`: histories with faults, on real servers, and what must hold
 * under load. `--beside FOLDER` runs the histories on two versions: the pack that is unpacked there, and this build. `--seed N` lives through one history again; `--cuts` lets connections be cut as slowly as balancers do; `--records` says how
 * many records the tests under load have.
 */
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '20' },
    seed: { type: 'string' },
    operations: { type: 'string', default: '2000' },
    records: { type: 'string', default: '60000' },
    cuts: { type: 'boolean', default: false },
    beside: { type: 'string' },
    listTests: { type: 'boolean', default: false },
  },
});

const seeds =
  values.seed === undefined
    ? Array.from({ length: wholeNumber('seeds') }, (_, index) => index + 1)
    : [wholeNumber('seed')];

const project = values.beside === undefined ? 'faults' : 'upgrade';
const jest = ['node_modules/jest/bin/jest.js', '--selectProjects', project, '--runInBand'];
const only = values.cuts ? ['cuts'] : values.seed === undefined ? [] : ['histories'];
const list = values.listTests ? ['--listTests'] : [];
const { status } = spawnSync(process.execPath, [...jest, ...list, ...only], {
  stdio: 'inherit',
  env: {
    ...process.env,
    FAULTS_SEEDS: seeds.join(','),
    FAULTS_OPERATIONS: String(wholeNumber('operations')),
    FAULTS_RECORDS: String(wholeNumber('records')),
    FAULTS_CUTS: '200',
    ...(values.beside !== undefined && { FAULTS_BESIDE: values.beside }),
    ...(values.cuts && { FAULTS_CUTS_EVERY: '500,800' }),
  },
});
process.exitCode = status ?? 1;

function wholeNumber(name) {
  const number = Number(values[name]);
  if (Number.isSafeInteger(number) && number > 0) return number;
  console.error(`--${name} ${values[name]}: give a whole number above 0.`);
  process.exit(2);
}
