import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const { unnamedBreaks, unreleased } = jest.requireActual<{
  unnamedBreaks: (released: string, now: string, changelog: string) => string[];
  unreleased: (changelog: string) => string;
}>('../../scripts/release/changelog.mjs');

it('everything that the last release had is there, or the changelog names it as a break', async () => {
  const { stdout: now } = await run(process.execPath, ['scripts/interface.mjs']);
  const released = await readFile('docs/interface.txt', 'utf8');
  const sorts = new Set(now.split('\n').map((line) => line.split(' ')[0]));
  for (const sort of 'setting command metric collection index storage operation parameter answer property'.split(
    ' ',
  ))
    expect(sorts).toContain(sort);
  expect(unnamedBreaks(released, now, unreleased(await readFile('CHANGELOG.md', 'utf8')))).toEqual([]);
});
