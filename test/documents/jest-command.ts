import { relative } from 'node:path';
import type { Clone } from './clone.js';

/** One file of each project, or one test of it, where a command without a file name pattern would run them all. */
const SMALL: Record<string, string> = {
  unit: '--testPathPatterns unit/rooms',
  contract: '--testPathPatterns contract/feed-head',
  process: "--testPathPatterns process/service -t 'a bad value stops the start'",
};

/** `npx jest [PATTERN] --selectProjects PROJECT`: takes the files that it says, and runs. */
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

  const small = patterns.length > 0 ? '' : SMALL[project];
  if (small === undefined) throw new Error(`No small form is known of the project "${project}".`);
  expect(await clone.output(`${command} ${small}`)).toMatch(/^Tests: .*[1-9]\d* passed/m);
}
