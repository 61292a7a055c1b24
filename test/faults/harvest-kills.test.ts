import { type BegunStage, COPY_FORMS, type CopyForm, killRun, killStage } from './harvest/index.js';

/** `HARVEST_KILLS=sqlite:1-150,ndjson:1-120` repeats these seeds instead. */
const { HARVEST_KILLS = 'sqlite:1-1,ndjson:1-1,mongodb:1-1' } = process.env;
const RUN_MS = 180_000;

/** Seeds by form. */
function runsIn(text: string): [CopyForm, number][] {
  return text.split(',').flatMap((part) => {
    const [name, first, last] = part.split(/[:-]/);
    const form = COPY_FORMS.find((one) => one === name);
    if (form === undefined) throw new Error(`HARVEST_KILLS: "${name}" is no form of a copy`);
    const seeds = Array.from({ length: Number(last) - Number(first) + 1 }, (_, n) => Number(first) + n);
    return seeds.map((seed): [CopyForm, number] => [form, seed]);
  });
}

const runs = runsIn(HARVEST_KILLS);
let stage: BegunStage;
beforeAll(async () => {
  stage = await killStage(runs.map(([form]) => form));
}, RUN_MS);
afterAll(() => stage.end());

let kills = 0;

describe('a harvest that is killed at any step, while others write', () => {
  test.each(runs)(
    'copy in %s, seed %i: equal to the source behind the next one',
    async (form, seed) => {
      const report = await killRun(stage, seed, form);
      kills += report.kills;
      expect(report.differences).toEqual([]);
    },
    RUN_MS,
  );

  test('every process was killed', () => {
    expect(kills).toBeGreaterThanOrEqual(3 * runs.length);
    process.stdout.write(`${runs.length} runs, ${kills} kills\n`);
  });
});
