import {
  ENDLESS,
  type Growth,
  greater,
  isConstant,
  isSingle,
  ONE,
  PER_CHARACTER,
  product,
  sum,
  times,
  ZERO,
  before,
  beginningOf,
  type Characters,
  choice,
  comparisons,
  distance,
  LONG,
  type Node,
  NONE,
  repeat,
  sequence,
} from './tree.js';
import { MalformedError } from './cursor.js';
import { parsePattern } from './parse.js';

/** Bytes that the smallest text in a list occupies. The cost of work per text is spread over this number of bytes. */
const SMALLEST_TEXT = 13;
/** The steps that PCRE needs to start on a text. */
const STEPS_TO_BEGIN = 6;
const MOST_TIMES = 1000;

/**
 * The maximum number of steps that PCRE takes for a pattern, per character of any text. Infinity if the steps grow
 * faster than the text; 0 if the pattern is malformed, which MongoDB refuses. A step is one character, group,
 * alternative or repetition that is tried. Throws NotUnderstoodError if the cost cannot be determined.
 *
 * PCRE tries a pattern at each character of the text. When a part fails, it backtracks and tries again. So the steps
 * stay within a multiple of the text's length only if
 *
 * - backtracking into an unbounded repetition never helps: the next part begins with other characters, or only single
 *   steps follow;
 * - and no later attempt passes over the same characters again: the pattern is anchored to the beginning of the text,
 *   or begins with a character that no unbounded repetition takes.
 */
export function patternCost(source: string, options: string): number {
  let alternatives: Node[];
  try {
    alternatives = parsePattern(source, options);
  } catch (error) {
    if (error instanceof MalformedError) return 0;
    throw error;
  }
  const isAnchored = alternatives.every((one) => beginsText(one));
  // PCRE tries a pattern whose alternatives all begin with `.*` or `^` only at the beginning of lines.
  const isOfLines = alternatives.every((one) => beginsLine(one) || beginsText(one, 'caret'));
  const begun = isAnchored ? inAll(times(STEPS_TO_BEGIN)) : 0;
  return alternatives.reduce((steps, one) => steps + costOf(one, isAnchored, isOfLines), begun);
}

/** Whether the pattern is `^` and a plain text, so that a mismatch is found at once. */
export function isPlainBeginning(source: string): boolean {
  return /^\^(?:[\w \-/:@#%&=,;!~<>"'`]|\\[^A-Za-z0-9])*$/.test(source);
}

/** The steps of one alternative, including its start: the smaller of two bounds. */
function costOf(one: Node, isAnchored: boolean, isOfLines: boolean): number {
  const { needed, rest } = ended(one);
  const bound = (asLong: boolean) => {
    if (isAnchored) return inAll(sum(ONE, measured(needed, END, asLong).work));
    const { once, perCharacter } = fromEach(needed, asLong);
    if (perCharacter === 0 || isOfLines || beginsText(one)) return once + perCharacter;
    const { endless, fixed } = asLong ? { endless: needed.long, fixed: needed.brief } : needed;
    const isRepassed = needed.isEmpty || (needed.first & endless) !== NONE;
    return isRepassed ? Infinity : once + (fixed + 1) * perCharacter;
  };
  return Math.min(bound(true), bound(false)) + inAll(rest);
}

/** The average steps of an attempt, over attempts at each character of a text. */
function fromEach(needed: Node, asLong: boolean): Growth {
  const { edges, text, rest } = beginningOf(needed);
  const { once, perCharacter } = measured(sequence(rest), END, asLong).work;
  return { once: 1 + edges + comparisons(text) + once / distance(text), perCharacter };
}

/** The steps per character, with the steps per text spread over the smallest text. */
function inAll({ once, perCharacter }: Growth): number {
  return once / SMALLEST_TEXT + perCharacter;
}

function beginsText(node: Node, by?: 'caret'): boolean {
  if (node.is === 'start') return by === undefined || node.isCaret;
  if (node.is === 'sequence') return node.parts[0] !== undefined && beginsText(node.parts[0], by);
  return node.is === 'choice' && node.options.every((one) => beginsText(one, by));
}

function beginsLine(node: Node): boolean {
  if (node.is === 'sequence') return node.parts[0] !== undefined && beginsLine(node.parts[0]);
  if (node.is === 'choice') return node.options.every(beginsLine);
  const isStar = node.is === 'repeat' && node.min === 0 && node.max === Infinity;
  return isStar && node.body.is === 'character' && node.body.isDot;
}

/**
 * A part at the end of a pattern: the node that must match, and the steps for parts that may follow when the match is
 * certain.
 */
interface Ended {
  needed: Node;
  rest: Growth;
}

function ended(node: Node): Ended {
  if (node.is === 'repeat')
    return { needed: repeat(node.body, node.min, node.min), rest: more(node.body, node.max - node.min) };
  if (node.is === 'choice') return endedChoice(node.options.map(ended));
  if (node.is !== 'sequence') return { needed: node, rest: ZERO };
  const parts = [...node.parts];
  let rest = ZERO;
  for (;;) {
    const last = parts.pop();
    if (last === undefined) return { needed: sequence([]), rest };
    const end = ended(last);
    rest = sum(rest, end.rest);
    if (!isNothing(end.needed)) return { needed: sequence([...parts, end.needed]), rest };
  }
}

/** If one option always matches, the match is certain before the others are tried. */
function endedChoice(options: Ended[]): Ended {
  const rest = options.reduce((steps, one) => sum(steps, one.rest), ZERO);
  const needed = choice(options.map((one) => one.needed));
  if (!options.some((one) => isNothing(one.needed))) return { needed, rest };
  return { needed: sequence([]), rest: sum(rest, measured(needed, END, true).work) };
}

function isNothing(node: Node): boolean {
  return node.is === 'sequence' ? node.parts.length === 0 : node.is === 'repeat' && node.max === 0;
}

/**
 * The steps for a part that is repeated up to `most` times after the match is certain, so PCRE never backtracks into
 * it.
 */
function more(body: Node, most: number): Growth {
  if (most === 0) return ZERO;
  if (body.is === 'character') return measured(repeat(body, 0, most), END, true).work;
  if (most <= LONG) {
    const { needed, rest } = ended(body);
    return product(times(most), sum(ONE, measured(needed, END, true).work, rest));
  }
  const { work, ways } = measured(body, followOf(repeat(body, 0, most), END), true);
  if (isConstant(work)) return { once: 1 + work.once, perCharacter: 1 + work.once };
  return repeated(body, work, ways, 0);
}

/** The steps within a part from one start, and the number of ways in which it may end before the next part. */
interface Measure {
  work: Growth;
  ways: Growth;
}

/** What follows a part. */
interface Follow {
  /** The characters with which it may begin, if it has to take one. */
  first: Characters;
  /** The maximum number of steps until it fails, if the next character is none of those. */
  idle: number;
}

/** The match is complete. */
const END: Follow = { first: NONE, idle: 0 };

function followOf(part: Node, rest: Follow): Follow {
  const { idle } = before(part, { idle: rest.idle, empties: 0 });
  return { first: part.first | (part.isEmpty ? rest.first : NONE), idle };
}

/**
 * The cost of a node. With `asLong`, a long repetition of one character counts as unbounded where backtracking into it
 * cannot help.
 */
function measured(node: Node, follow: Follow, asLong: boolean): Measure {
  switch (node.is) {
    case 'character':
    case 'edge':
    case 'start':
      return { work: ONE, ways: ONE };
    case 'look':
      return ofLook(node.body, asLong);
    case 'sequence':
      return ofSequence(node.parts, follow, asLong);
    case 'choice':
      return ofChoice(node.options, follow, asLong);
    case 'repeat':
      return node.body.is === 'character'
        ? ofCharacters(node, follow, asLong)
        : ofRepeated(node, follow, asLong);
  }
}

/** PCRE tries a lookaround in one way only, whether it holds or not. */
function ofLook(body: Node, asLong: boolean): Measure {
  const { needed, rest } = ended(body);
  return { work: sum(ONE, measured(needed, END, asLong).work, rest), ways: ONE };
}

function ofSequence(parts: Node[], follow: Follow, asLong: boolean): Measure {
  let next = follow;
  let rest: Measure = { work: ZERO, ways: ONE };
  for (const part of parts.toReversed()) {
    const { work, ways } = measured(part, next, asLong);
    rest = { work: sum(work, product(ways, rest.work)), ways: product(ways, rest.ways) };
    next = followOf(part, next);
  }
  return rest;
}

function ofChoice(options: Node[], follow: Follow, asLong: boolean): Measure {
  let begun = NONE;
  let areApart = true;
  let work = times(options.length);
  let [all, most] = [ZERO, ZERO];
  for (const option of options) {
    const one = measured(option, follow, asLong);
    const { first, idle } = followOf(option, follow);
    areApart &&= (begun & first) === NONE;
    begun |= first;
    // If another option matches, an option that matches the empty text is tried as well, and the next part fails.
    work = sum(work, one.work, times(option.isEmpty && options.length > 1 ? idle : 0));
    all = sum(all, one.ways);
    most = greater(most, one.ways);
  }
  return { work, ways: areApart ? most : all };
}

type Repeat = Extract<Node, { is: 'repeat' }>;

/** One character, repeated: `[a-z]*`. */
function ofCharacters({ body, min, max }: Repeat, follow: Follow, asLong: boolean): Measure {
  const isOpen = (body.first & follow.first) !== NONE;
  // If backtracking by a character cannot help, the next part fails at once.
  if (!isOpen && (max === Infinity || (asLong && max > LONG)))
    return { work: { once: 1, perCharacter: 1 + follow.idle }, ways: ONE };
  if (max === Infinity) return { work: { once: 1 + min, perCharacter: 1 }, ways: PER_CHARACTER };
  const width = max - min;
  return isOpen
    ? { work: times(max + 1), ways: times(width + 1) }
    : { work: sum(times(max + 1), product(times(width), times(follow.idle))), ways: ONE };
}

/**
 * A repeated group. It may be unbounded only if it matches in one way at each place; otherwise the steps may grow
 * without limit.
 */
function ofRepeated({ body, min, max }: Repeat, follow: Follow, asLong: boolean): Measure {
  const again = max > 1 ? followOf(repeat(body, 0, max - 1), follow) : follow;
  const { work, ways } = measured(body, again, asLong);
  const isOpen = body.isEmpty || (body.first & follow.first) !== NONE;
  if (max === Infinity) {
    const steps = repeated(body, work, ways, isOpen ? 0 : follow.idle);
    return { work: steps, ways: isOpen ? PER_CHARACTER : ONE };
  }
  if (max > MOST_TIMES) return { work: ENDLESS, ways: ENDLESS };
  let [steps, ends, taken] = [ZERO, min === 0 ? ONE : ZERO, ONE];
  for (let count = 1; count <= max; count += 1) {
    steps = sum(steps, product(taken, sum(ONE, work)));
    taken = product(taken, ways);
    if (count >= min) ends = sum(ends, taken);
  }
  if (isOpen || !isSingle(ways)) return { work: steps, ways: ends };
  return { work: sum(steps, product(times(max - min), times(follow.idle))), ways: ONE };
}

/**
 * The steps of an unbounded repetition. `idle` is the number of steps of the next part, each time it fails at once.
 */
function repeated(body: Node, work: Growth, ways: Growth, idle: number): Growth {
  if (body.isEmpty || body.looks || !isSingle(ways)) return ENDLESS;
  return { once: 1 + work.once, perCharacter: 1 + work.once + 2 * work.perCharacter + idle };
}
