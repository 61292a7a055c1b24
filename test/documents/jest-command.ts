import { relative } from 'node:path';
import type { Clone } from './clone.js';

/**
 * `npx jest [PATTERN] --selectProjects PROJECT`: takes the files that it says, and runs. Without a pattern it is one of the
 * runs of `npm test`, which is not run twice.
 */
export async function runsJest(command: string, clone: Clone): Promise<void> {
  const words = command.split(' ').slice(2);
  const option = words.indexOf('--selectProjects');
  const [patterns, [project = '', ...others]] = [words.slice(0, option), words.slice(option + 1)];
  expect(others).toEqual([]);

  const listed = (await clone.output(`${command} --listTests`))
    .split('\n')
    .filter((line) => line.endsWith('.test.ts'));
  const files = listed.map((file) => relative(clone.directory, file));
  const isMeant = (file: string) =>
    file.startsWith(`test/${project}/`) && patterns.every((pattern) => file.includes(pattern));
  expect(files.length).toBeGreaterThan(0);
  expect(files.filter((file) => !isMeant(file))).toEqual([]);

  if (patterns.length === 0) expect(clone.read('scripts/test.mjs')).toContain(`'${project}'`);
  else expect(await clone.output(command)).toMatch(/^Tests: .*[1-9]\d* passed/m);
}
