import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/** How many lines of what a test says are told: enough for the first difference of two values. */
const toldLines = 6;

/**
 * What failed in a run of Jest: for each test its run, file and full name, then what it says first and where that was,
 * indented and without colours. A file that did not come to its tests, or could not clean up after them, is told by itself.
 */
export function failedTests(title, report, root) {
  return (report.testResults ?? []).flatMap((file) => {
    const place = `${title}: ${relative(root, file.name)}`;
    const failed = file.assertionResults.filter(({ status }) => status === 'failed');
    if (failed.length === 0)
      return file.status === 'failed' ? [told(place, 'the file failed', file.message, root)] : [];
    return failed.map(({ fullName, failureMessages }) =>
      told(place, fullName, failureMessages.join('\n'), root),
    );
  });
}

function told(place, name, message, root) {
  const lines = stripVTControlCharacters(message)
    .replaceAll(`${root}/`, '')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const isOfStack = (line) => /^\s+at /.test(line);
  const ours = lines.find((line) => isOfStack(line) && !line.includes('node_modules/'));
  const said = lines.filter((line) => !isOfStack(line)).slice(0, toldLines);
  return [
    `${place} › ${name}`,
    ...[...said, ...(ours === undefined ? [] : [ours])].map((line) => `      ${line.trim()}`),
  ].join('\n');
}
