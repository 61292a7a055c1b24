/**
 * `npm run test:model`: the protocol against random histories, by the thousand. A history in which something is lost is
 * shrunk and told, with the line that plays it again.
 */
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    schedules: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    profile: { type: 'string', default: 'everything' },
    mutant: { type: 'string' },
    turns: { type: 'string' },
    listTests: { type: 'boolean', default: false },
  },
});

const replay =
  values.turns === undefined
    ? {}
    : {
        replay: {
          profile: values.profile,
          turns: values.turns.split(',').map(Number),
          mutant: values.mutant,
        },
      };
const asked = { schedules: Number(values.schedules), seed: Number(values.seed), ...replay };

const files = values.turns === undefined ? [] : ['test/model/protocol.test.ts'];
const list = values.listTests ? ['--listTests'] : [];
const jest = [
  'node_modules/jest/bin/jest.js',
  '--selectProjects',
  'model',
  '--verbose',
  ...list,
  '--',
  ...files,
];
const { status } = spawnSync(process.execPath, jest, {
  stdio: 'inherit',
  env: { ...process.env, TIDEMARK_MODEL: JSON.stringify(asked) },
});
process.exitCode = status ?? 1;
