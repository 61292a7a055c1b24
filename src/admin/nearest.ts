/**
 * At most every third letter may be wrong, of the name and of what was said: a name that is further away is a guess, and may
 * remove something.
 */
const LETTERS_FOR_EACH_CHANGE = 3;

/**
 * The name that takes the fewest changes to come from what was said, word by word; undefined where none is near. A change adds,
 * leaves out or replaces a letter, or swaps two neighbours.
 */
export function nearest(names: readonly string[], said: string): string | undefined {
  const ranked = names.map((name) => ({ name, distance: distanceOfWords(name.split(' '), said.split(' ')) }));
  return ranked.filter(({ distance }) => distance < Infinity).sort((a, b) => a.distance - b.distance)[0]
    ?.name;
}

/** Infinity where a word is not near. */
function distanceOfWords(name: string[], said: string[]): number {
  if (name.length !== said.length) return Infinity;
  return name.reduce((sum, word, at) => {
    const distance = editDistance(word, said[at]!);
    const isNear = distance * LETTERS_FOR_EACH_CHANGE <= Math.min(word.length, said[at]!.length);
    return isNear ? sum + distance : Infinity;
  }, 0);
}

/** The distance of Damerau and Levenshtein, row by row. */
function editDistance(a: string, b: string): number {
  let twoAbove: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const isSame = a[row - 1] === b[column - 1];
      const isSwapped = !isSame && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current.push(
        Math.min(
          above[column - 1]! + (isSame ? 0 : 1),
          above[column]! + 1,
          current[column - 1]! + 1,
          isSwapped ? twoAbove[column - 2]! + 1 : Infinity,
        ),
      );
    }
    [twoAbove, above] = [above, current];
  }
  return above[b.length]!;
}
