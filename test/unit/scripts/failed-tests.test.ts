interface Told {
  failedTests: (title: string, report: object, root: string) => string[];
}
const { failedTests } = jest.requireActual<Told>('../../../scripts/failed-tests.mjs');

const RED = '\u001b[31m';
const PLAIN = '\u001b[39m';

const tests = (...assertionResults: object[]) => ({
  testResults: [{ name: '/clone/test/contract/max.test.ts', status: 'failed', assertionResults }],
});

it('tells run, file and full name of each failed test, the begin of what it says, and where', () => {
  const message = [
    ...[
      `Error: ${RED}expect(received)${PLAIN}.toBe(expected)`,
      '',
      'Expected: 1',
      'Received: 2',
      '',
      '1',
      '2',
      '3',
      'More',
    ],
    '    at Object.toBe (/clone/node_modules/expect/index.js:1:1)',
    '    at Object.<anonymous> (/clone/test/contract/max.test.ts:33:5)',
  ].join('\n');
  const failed = { status: 'failed', fullName: 'max goes up', failureMessages: [message] };
  const report = tests({ status: 'passed', fullName: 'max is there', failureMessages: [] }, failed);
  expect(failedTests('Contract tests', report, '/clone')).toEqual([
    [
      'Contract tests: test/contract/max.test.ts › max goes up',
      '      Error: expect(received).toBe(expected)',
      '      Expected: 1',
      '      Received: 2\n      1\n      2\n      3',
      '      at Object.<anonymous> (test/contract/max.test.ts:33:5)',
    ].join('\n'),
  ]);
});

it('tells a file that did not come to its tests', () => {
  const [file] = tests().testResults;
  const report = { testResults: [{ ...file, message: 'Cannot find module' }] };
  expect(failedTests('Unit tests', report, '/clone')).toEqual([
    'Unit tests: test/contract/max.test.ts › the file failed\n      Cannot find module',
  ]);
});

it('tells nothing of what went well, nor of a run without a report', () => {
  expect(failedTests('Unit tests', {}, '/clone')).toEqual([]);
  const passed = { name: '/clone/a.test.ts', status: 'passed', message: '', assertionResults: [] };
  expect(failedTests('Unit tests', { testResults: [passed] }, '/clone')).toEqual([]);
});
