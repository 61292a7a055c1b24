import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/** How many lines of a failure are shown: enough for the first difference of two values. */
const SHOWN_LINES = 12;
/** And how much of a line. */
const SHOWN_CHARACTERS = 300;

/**
 * What failed in a test file: for each test its project, file and full name, the first lines of its message, its place in the
 * source, and the command that runs it alone. A file that failed outside its tests is one failure.
 */
export function failuresOf(project, file, { root, seed }) {
  const path = relative(root, file.testFilePath);
  const again = `npx jest --selectProjects ${project} --seed ${seed} -- ${path}`;
  const failed = file.testResults.filter(({ status }) => status === 'failed');
  const outside = file.testExecError !== undefined && file.testExecError !== null;
  if (failed.length === 0 && !outside) return [];
  if (failed.length === 0)
    return [told([project, path], 'the file failed', file.failureMessage ?? '', again, root)];
  return failed.map(({ fullName, failureMessages }) =>
    told([project, path], fullName, failureMessages.join('\n'), `${again} -t ${quoted(fullName)}`, root),
  );
}

function told([project, path], name, message, again, root) {
  const lines = stripVTControlCharacters(message)
    .replaceAll(`${root}/`, '')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const isOfStack = (line) => /^\s+at /.test(line);
  const ours = lines.find((line) => isOfStack(line) && !line.includes('node_modules/'));
  const said = lines.filter((line) => !isOfStack(line)).slice(0, SHOWN_LINES);
  return [
    `${project}: ${path} › ${name}`,
    ...[...said, ...(ours === undefined ? [] : [ours])].map(
      (line) => `      ${line.trim().slice(0, SHOWN_CHARACTERS)}`,
    ),
    `      again: ${again}`,
  ].join('\n');
}

/** As a pattern of Jest and as a word of a shell. */
function quoted(name) {
  return `'${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll("'", String.raw`'\''`)}'`;
}
