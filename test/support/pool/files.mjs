/** How the pool treats test files; a name is a path below `test/`. */

/** These measure, or hold a database or a machine still: each runs while nothing else does. */
const ALONE = new Set([]);

/** These keep several processes busy: each takes two places. */
const HEAVY = new Set([]);

/** The longest first, so that no long file is left when all others have ended. */
const LONGEST = [];

const nameOf = (path) => path.split('/test/').at(-1);
const rank = new Map(LONGEST.map((name, index) => [name, index]));

export const isAlone = (path) => ALONE.has(nameOf(path));
export const isHeavy = (path) => HEAVY.has(nameOf(path));

/** Its place among the longest files; behind all of them for others, and last for those that run alone. */
export function placeOf(path) {
  return isAlone(path) ? Infinity : (rank.get(nameOf(path)) ?? LONGEST.length);
}
