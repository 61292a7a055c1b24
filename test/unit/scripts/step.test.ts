import { spawnSync } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';

interface Steps {
  step: (settings: object, title: string, program: string, ...args: string[]) => Promise<string>;
}
const { step } = jest.requireActual<Steps>('../../../scripts/step.mjs');

const NODE = process.execPath;
const LOOK_MS = 50;
const LOOKS = 400;

let printed: string[];
beforeEach(() => {
  printed = [];
  jest.spyOn(console, 'log').mockImplementation((line: string) => void printed.push(line));
});
afterEach(() => jest.restoreAllMocks());

const run = (code: string, settings: object = {}) =>
  step({ isQuiet: true, ...settings }, 'A step', NODE, '-e', code);

/** Whether a process runs: one that has ended may be listed until somebody asks how. */
function runs(pid: string): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', pid], { encoding: 'utf8' });
  return /^\s*[^Z\s]/.test(stdout);
}

it('a quiet step that went well is one line with its time', async () => {
  expect(await run('console.log("done")')).toBe('');
  expect(printed).toEqual([expect.stringMatching(/^well {3}A step, \d+ s$/)]);
});

it('one that failed is shown with what it printed', async () => {
  await run('console.log("one\\ntwo"); process.exitCode = 3');
  expect(printed).toEqual([expect.stringMatching(/^FAILED A step, \d+ s$/), 'one\ntwo\n']);
});

it('tells the exit code and the last line of one that failed', async () => {
  expect(await run('console.log("one\\ntwo"); process.exitCode = 3')).toBe(
    'it ended with 3 (its last line: two)',
  );
});

it('tells that a program is not there', async () => {
  expect(await step({ isQuiet: true }, 'A step', 'no-such-program')).toContain('ENOENT');
});

it('gives a step its environment', async () => {
  expect(await run('process.exitCode = Number(process.env.CODE)', { env: { CODE: '7' } })).toContain(
    'with 7',
  );
});

it('ends a step behind its limit, with what it has started', async () => {
  const child = `require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => 1, 1000)'])`;
  const said = await run(`console.log(${child}.pid); setInterval(() => 1, 1000)`, { limitMs: 1000 });
  const [, pid] =
    /^it had not ended after 0 minutes, and was ended \(its last line: (\d+)\)$/.exec(said) ?? [];
  expect(pid).toBeDefined();
  for (let look = 0; look < LOOKS && runs(pid!); look += 1) await wait(LOOK_MS);
  expect(runs(pid!)).toBe(false);
});
