import { parse } from 'yaml';
import { read } from './files.js';

interface Workflow {
  jobs: Record<
    string,
    { strategy?: { matrix: { node: string[] } }; needs?: string; steps: { run?: string }[] }
  >;
}

const workflow = (name: string) => parse(read(`.github/workflows/${name}.yml`)) as Workflow;
const scripts = (JSON.parse(read('package.json')) as { scripts: Record<string, string> }).scripts;

it('CI runs all tests on the oldest Node that is supported, and on newer ones', () => {
  const { strategy, steps } = workflow('ci').jobs['test']!;
  const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } };
  expect(strategy!.matrix.node[0]).toBe(engines.node.replace('>=', ''));
  expect(strategy!.matrix.node.length).toBeGreaterThan(2);
  expect(steps.map(({ run }) => run)).toContain('.ci/run');
});

it('a release is made only after all tests', () => {
  const { test, ...others } = workflow('release').jobs;
  expect(test!.steps.map(({ run }) => run)).toContain('.ci/run');
  expect(Object.values(others).map(({ needs }) => needs)).toEqual(['test', 'test', 'test']);
});

it('the workflows run scripts that there are', () => {
  const steps = ['ci', 'release'].flatMap((name) =>
    Object.values(workflow(name).jobs).flatMap((job) => job.steps),
  );
  const named = steps.flatMap(({ run = '' }) => /^npm run (\S+)/.exec(run)?.[1] ?? []);
  expect(named).toContain('test:long');
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
});
