import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
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

const WAITS = 'setInterval(() => 1, 1000)';
/** Code that starts a process, in a group of its own where it is detached, and prints its number. */
const starts = (settings: object) =>
  `console.log(require('node:child_process').spawn(process.execPath, ['-e', '${WAITS}'], ${JSON.stringify(settings)}).pid); ${WAITS}`;

/** A script of ours that runs beside the test. */
const script = (code: string) =>
  spawn(NODE, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });

async function hasEnded(pid: string): Promise<boolean> {
  for (let look = 0; look < LOOKS && runs(pid); look += 1) await wait(LOOK_MS);
  return !runs(pid);
}

it.each([{ detached: false }, { detached: true }])(
  'ends a step after its limit, with what it has started: %j',
  async (settings) => {
    const said = await run(starts({ ...settings, stdio: 'ignore' }), { limitMs: 1000 });
    const [, pid] =
      /^it had not ended after 0 minutes, and was ended \(its last line: (\d+)\)$/.exec(said) ?? [];
    expect(pid).toBeDefined();
    expect(await hasEnded(pid!)).toBe(true);
  },
);

/** A folder of the step goes with the run, as those of its replica sets do. */
it.each(['SIGINT', 'SIGTERM'] as const)('%s ends what the steps have started', async (signal) => {
  const parent = await mkdtemp(join(tmpdir(), 'tidemark-leftovers-'));
  const child = `
    import('./scripts/leftovers.mjs').then(({ folderOfRun }) => {
      folderOfRun(${JSON.stringify(parent)}, 'step');
      ${starts({ detached: true, stdio: 'ignore' })}
    });`;
  const running = script(`
    const { atEnd, step } = await import('./scripts/step.mjs');
    const { sweepFolders } = await import('./scripts/leftovers.mjs');
    atEnd(() => sweepFolders(${JSON.stringify(parent)}, 'step'));
    await step({}, 'A step', process.execPath, '-e', ${JSON.stringify(child)});`);
  let pid: string | undefined;
  for await (const line of createInterface(running.stdout)) {
    if (!/^\d+$/.test(line)) continue;
    pid = line;
    running.kill(signal);
  }
  expect(pid).toBeDefined();
  expect(await hasEnded(pid!)).toBe(true);
  expect(await readdir(parent)).toEqual([]);
  await rm(parent, { recursive: true });
});

it('a run removes the folders of runs that have ended, and no others', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'tidemark-leftovers-'));
  const made = `
    const { folderOfRun } = await import('./scripts/leftovers.mjs');
    console.log(folderOfRun(${JSON.stringify(parent)}, 'run'));`;
  const living = script(`${made} ${WAITS}`);
  const [line] = (await once(createInterface(living.stdout), 'line')) as [string];
  expect(await text(script(made).stdout)).not.toBe('');
  expect(await readdir(parent)).toHaveLength(2);
  const last = (await text(script(made).stdout)).trim();
  expect((await readdir(parent)).sort()).toEqual([line, last].map((path) => basename(path)).sort());
  living.kill();
  await rm(parent, { recursive: true });
});
