/** At most every third letter of a name may be wrong: a name that is further away is a guess, and may remove something. */
const LETTERS_FOR_EACH_CHANGE = 3;

/** The name that takes the fewest changes of single letters to come from what was said; undefined where none is near. */
export function nearest(names: readonly string[], said: string): string | undefined {
  const ranked = names
    .map((name) => ({ name, distance: editDistance(name, said) }))
    .filter(({ name, distance }) => distance * LETTERS_FOR_EACH_CHANGE <= name.length);
  return ranked.sort((a, b) => a.distance - b.distance)[0]?.name;
}

/** Levenshtein's distance, row by row. */
function editDistance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const changed = (above[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(changed, (above[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    above = current;
  }
  return above[b.length] ?? 0;
}
