import { liveThrough } from './history.js';

const HISTORY_MS = 10 * 60_000;
/** The servers are ended, and what they said is printed. */
const ENDED_MS = 60_000;

const { FAULTS_SEEDS = '1', FAULTS_OPERATIONS = '300' } = process.env;
const operations = Number(FAULTS_OPERATIONS);

describe('A consumer ends with exactly the records of the source', () => {
  it.each(FAULTS_SEEDS.split(',').map(Number))(
    'in the history of seed %i',
    async (seed) => {
      const replay = `replay: npm run test:faults -- --seed ${seed} --operations ${operations}`;
      try {
        process.stdout.write(`${await liveThrough(seed, { operations, within: HISTORY_MS })}\n`);
      } catch (error) {
        process.stdout.write(`${replay}\n`);
        throw error;
      }
    },
    HISTORY_MS + ENDED_MS,
  );
});
