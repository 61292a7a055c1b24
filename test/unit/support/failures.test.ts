interface Told {
  failuresOf: (project: string, file: object, run: { root: string; seed: number }) => string[];
}
const { failuresOf } = jest.requireActual<Told>('../../support/pool/failures.mjs');

const RED = '\u001b[31m';
const PLAIN = '\u001b[39m';
const RUN = { root: '/clone', seed: 7 };
const AGAIN = 'npx jest --selectProjects contract --seed 7 -- test/contract/max.test.ts';

const file = (...testResults: object[]) => ({
  ...{ testFilePath: '/clone/test/contract/max.test.ts', testResults },
});

it('names project, file and test of each failure, its first lines, its place, and the command that repeats it', () => {
  const message = [
    ...[`Error: ${RED}expect(received)${PLAIN}.toBe(expected)`, '', 'Expected: 1', 'Received: 2', ''],
    ...['1', '2', '3', '4', '5', '6', '7', '8', '9', 'More'],
    '    at Object.toBe (/clone/node_modules/expect/index.js:1:1)',
    '    at Object.<anonymous> (/clone/test/contract/max.test.ts:33:5)',
  ].join('\n');
  const failed = { status: 'failed', fullName: "max (of Ann's) goes up", failureMessages: [message] };
  const passed = { status: 'passed', fullName: 'max is there', failureMessages: [] };
  expect(failuresOf('contract', file(passed, failed), RUN)).toEqual([
    [
      "contract: test/contract/max.test.ts › max (of Ann's) goes up",
      '      Error: expect(received).toBe(expected)',
      '      Expected: 1',
      '      Received: 2',
      ...['1', '2', '3', '4', '5', '6', '7', '8', '9'].map((line) => `      ${line}`),
      '      at Object.<anonymous> (test/contract/max.test.ts:33:5)',
      String.raw`      again: ${AGAIN} -t 'max \(of Ann'\''s\) goes up'`,
    ].join('\n'),
  ]);
});

it('a file that failed outside its tests is one failure', () => {
  const broken = { ...file(), testExecError: {}, failureMessage: 'Cannot find module' };
  expect(failuresOf('contract', broken, RUN)).toEqual([
    `contract: test/contract/max.test.ts › the file failed\n      Cannot find module\n      again: ${AGAIN}`,
  ]);
});

it('a file whose tests passed has none', () => {
  const passed = { status: 'passed', fullName: 'max is there', failureMessages: [] };
  expect(failuresOf('contract', file(passed), RUN)).toEqual([]);
});
