import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { liveThrough } from '../faults/history.js';
import { copyVersion } from '../support/versions.js';

const HISTORY_MS = 10 * 60_000;
/** The servers are ended, and what they said is printed. */
const ENDED_MS = 60_000;
const THIS = resolve('dist/main.js');
const COPY = resolve('.cache/versions-of-histories');

const { FAULTS_SEEDS = '1', FAULTS_OPERATIONS = '300', FAULTS_BESIDE = '' } = process.env;
const operations = Number(FAULTS_OPERATIONS);
const seeds = FAULTS_SEEDS.split(',').map(Number);

/**
 * The two versions: the unpacked pack of the version before, and this build; or, without a pack, this build and a copy of it
 * that knows one more storage format.
 */
let older: string;
let newer: string;

beforeAll(async () => {
  if (FAULTS_BESIDE === '') {
    older = THIS;
    newer = join(await copyVersion(COPY, '{ oldest: 1, newest: 2 }'), 'main.entry.js');
  } else {
    older = resolve(FAULTS_BESIDE, 'dist/main.js');
    newer = THIS;
    if (!existsSync(older)) throw new Error(`FAULTS_BESIDE "${FAULTS_BESIDE}" holds no dist/main.js.`);
  }
});
afterAll(() => rm(COPY, { recursive: true, force: true }));

describe('two versions side by side, then the older one alone: each copy ends with the records of the source', () => {
  describe.each(['the older one is the first', 'the newer one is the first'])('%s', (order) => {
    it.each(seeds)(
      'in the history of seed %i',
      async (seed) => {
        const programs = order.startsWith('the older')
          ? ([older, newer] as const)
          : ([newer, older] as const);
        const upgrade = { programs, back: older };
        const told = await liveThrough(seed, { operations, within: HISTORY_MS, upgrade });
        process.stdout.write(`${order}: ${told}\n`);
      },
      HISTORY_MS + ENDED_MS,
    );
  });
});
