/** Rows under headings, in columns as wide as their widest cell; the sentence where there are no rows. */
export function table(headings: string[], rows: string[][], none: string): string {
  if (rows.length === 0) return none;
  const lines = [headings, ...rows];
  const widths = headings.map((_, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)));
  return lines
    .map((cells) =>
      cells
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** A whole number with its thousands apart. */
export function count(number: number): string {
  return number.toLocaleString('en');
}

/** A number of things in words, such as `1 record` or `2 records`. */
export function counted(number: number, thing: string): string {
  return `${count(number)} ${thing}${number === 1 ? '' : 's'}`;
}
