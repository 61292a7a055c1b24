/** The figures as one table, in Markdown. */

const HEADINGS = ['figure', 'measured', 'target'];

/**
 * Rows are `{ figure, value, unit, atLeast?, atMost?, isCount? }`, `{ figure, text }` where there is more to say than a
 * number, or `{ figure, failure }`. `isCount` means that the value depends on no clock.
 */
export function tableOf(rows) {
  const cells = rows.map((row) => [row.figure, measured(row), target(row)]);
  const widths = HEADINGS.map((heading, column) =>
    Math.max(...[HEADINGS, ...cells].map((one) => one[column].length)),
  );
  const line = (one) => `| ${one.map((text, column) => text.padEnd(widths[column])).join(' | ')} |`;
  return [line(HEADINGS), line(widths.map((width) => '-'.repeat(width))), ...cells.map(line)].join('\n');
}

/**
 * Whether a row shows an error on any machine: it could not be measured, or a count misses its target. Times and memory
 * depend on the machine and on its load.
 */
export function isWrong(row) {
  return row.failure !== undefined || (row.isCount === true && isMet(row) === false);
}

/** Whether a row reaches its target; undefined if it has none, or if the run was too short to tell. */
function isMet({ value, atLeast, atMost, failure }) {
  const hasBound = atLeast !== undefined || atMost !== undefined;
  if (!hasBound || (value !== undefined && !Number.isFinite(value))) return undefined;
  return failure === undefined && value >= (atLeast ?? -Infinity) && value <= (atMost ?? Infinity);
}

function measured(row) {
  if (row.failure !== undefined) return `failed: ${row.failure.split('\n')[0].slice(0, 80)}`;
  if (row.text !== undefined) return row.text;
  return Number.isFinite(row.value) ? `${rounded(row.value)}${row.unit}` : 'the run was too short to tell';
}

function target(row) {
  if (row.atLeast === undefined && row.atMost === undefined) return '';
  const bound = row.atLeast === undefined ? `at most ${row.atMost}` : `at least ${row.atLeast}`;
  return `${bound}${isMet(row) === false ? ' (missed)' : ''}`;
}

function rounded(value) {
  return Number(value.toPrecision(3)).toString();
}
