import { liveThroughCuts } from './cuts/cut-service.js';
import { ReplicaSet } from './world/index.js';

const CUTS_MS = 10 * 60_000;
const { FAULTS_CUTS_EVERY = '100,300', FAULTS_CUTS = '60' } = process.env;

let set: ReplicaSet;

beforeAll(async () => {
  set = await ReplicaSet.start({ nodes: 1, shortOplog: false });
}, 60_000);

afterAll(() => set.remove());

test(
  'a service whose connections are cut again and again delivers a change within 30 s of the last cut',
  async () => {
    const cuts = {
      count: Number(FAULTS_CUTS),
      every: FAULTS_CUTS_EVERY.split(',').map(Number) as [number, number],
    };
    const lives = await Promise.allSettled([1, 2, 3].map((seed) => liveThroughCuts(set, seed, cuts)));
    const told = lives.map((life) => (life.status === 'fulfilled' ? life.value : String(life.reason)));
    process.stdout.write(`${told.join('\n')}\n`);
    expect(lives.filter(({ status }) => status === 'rejected')).toEqual([]);
  },
  CUTS_MS,
);
