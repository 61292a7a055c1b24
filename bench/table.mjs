/** The figures as one table, in Markdown. */

const HEADINGS = ['figure', 'measured', 'wanted'];

/**
 * Rows are `{ figure, value, unit, atLeast?, atMost? }`, `{ figure, text }` where there is more to say than a number, or
 * `{ figure, failure }`.
 */
export function tableOf(rows) {
  const cells = rows.map((row) => [row.figure, measured(row), wanted(row)]);
  const widths = HEADINGS.map((heading, column) =>
    Math.max(...[HEADINGS, ...cells].map((one) => one[column].length)),
  );
  const line = (one) => `| ${one.map((text, column) => text.padEnd(widths[column])).join(' | ')} |`;
  return [line(HEADINGS), line(widths.map((width) => '-'.repeat(width))), ...cells.map(line)].join('\n');
}

/** Whether a row reaches what is wanted; undefined where nothing is. */
export function isMet({ value, atLeast, atMost, failure }) {
  if (atLeast === undefined && atMost === undefined) return undefined;
  return failure === undefined && value >= (atLeast ?? -Infinity) && value <= (atMost ?? Infinity);
}

function measured(row) {
  if (row.failure !== undefined) return `failed: ${row.failure.split('\n')[0].slice(0, 80)}`;
  return row.text ?? `${rounded(row.value)}${row.unit}`;
}

function wanted(row) {
  const met = isMet(row);
  if (met === undefined) return '';
  const bound = row.atLeast === undefined ? `at most ${row.atMost}` : `at least ${row.atLeast}`;
  return `${bound}${met ? '' : ' (missed)'}`;
}

function rounded(value) {
  return Number(value.toPrecision(3)).toString();
}
