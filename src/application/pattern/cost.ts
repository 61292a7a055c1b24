import {
  ENDLESS,
  type Growth,
  greater,
  isSingle,
  ONE,
  PER_CHARACTER,
  product,
  sum,
  times,
  ZERO,
} from './growth.js';
import { MalformedError } from './cursor.js';
import { parsePattern } from './parse.js';
import { type Characters, choice, type Node, NONE, repeat, sequence } from './tree.js';

/** A pattern anchored to the beginning of a text takes few steps in all: this many count as one step per character. */
const STEPS_AT_ONCE = 20;
const MOST_TIMES = 1000;

/**
 * The most steps that PCRE takes for a pattern, per character of any text: Infinity if the steps grow faster than the text,
 * 0 if the pattern is malformed, which MongoDB refuses. Throws NotUnderstoodError if the cost cannot be determined.
 *
 * PCRE tries a pattern from each character on; when a part fails, it backtracks and tries again. So the steps stay within a
 * multiple of the text's length only if
 *
 * - backtracking into an unbounded repetition never helps: the next part begins with other characters, or only single steps
 *   follow;
 * - and no later attempt passes over the same characters again: the pattern is anchored to the beginning of the text, or
 *   begins with a character that no unbounded repetition takes.
 */
export function patternCost(source: string, options: string): number {
  let pattern: Node;
  try {
    pattern = parsePattern(source, options);
  } catch (error) {
    if (error instanceof MalformedError) return 0;
    throw error;
  }
  const alternatives = pattern.is === 'choice' ? pattern.options : [pattern];
  // PCRE tries a pattern whose alternatives all begin with `.*` at the beginning of lines only.
  const isOfLines = alternatives.every((one) => beginsText(one) || beginsLine(one));
  return alternatives.reduce((steps, one) => steps + costOf(withoutEnd(one), isOfLines), 0);
}

/** Whether the pattern is `^` and a plain text, so that a mismatch is known at once. */
export function isPlainBeginning(source: string): boolean {
  return /^\^(?:[\w \-/:@#%&=,;!~<>"'`]|\\[^A-Za-z0-9])*$/.test(source);
}

function costOf(one: Node, isOfLines: boolean): number {
  const isAnchored = beginsText(one);
  const { once, perCharacter } = measured(one, NONE, isAnchored).work;
  if (isAnchored) return once / STEPS_AT_ONCE + perCharacter;
  if (perCharacter === 0 || isOfLines) return once + perCharacter;
  const isRepassed = one.isEmpty || (one.first & one.endless) !== NONE;
  return isRepassed ? Infinity : once + (one.fixed + 1) * perCharacter;
}

function beginsText(node: Node): boolean {
  if (node.is === 'start') return true;
  if (node.is === 'sequence') return node.parts[0] !== undefined && beginsText(node.parts[0]);
  return node.is === 'choice' && node.options.every(beginsText);
}

function beginsLine(node: Node): boolean {
  const first = node.is === 'sequence' ? node.parts[0] : node;
  return (
    first?.is === 'repeat' &&
    first.min === 0 &&
    first.max === Infinity &&
    first.body.is === 'character' &&
    first.body.isDot
  );
}

/** Without optional parts at the end: a match is complete before them. */
function withoutEnd(node: Node): Node {
  if (node.is === 'repeat') return repeat(node.body, node.min, node.min);
  if (node.is === 'choice') return choice(node.options.map(withoutEnd));
  if (node.is !== 'sequence') return node;
  const parts = [...node.parts];
  for (;;) {
    const last = parts.pop();
    if (last === undefined) return sequence([]);
    const short = withoutEnd(last);
    if (short.is === 'repeat' && short.max === 0) continue;
    return sequence([...parts, short]);
  }
}

/** The steps within a part from one start, and the number of ways in which it may end before the next part. */
interface Measure {
  work: Growth;
  ways: Growth;
}

/** `follow`: the characters with which the next part may begin, if it has to take one. */
function measured(node: Node, follow: Characters, isAnchored: boolean): Measure {
  switch (node.is) {
    case 'character':
    case 'edge':
    case 'start':
      return { work: ONE, ways: ONE };
    case 'look':
      return { work: sum(ONE, measured(withoutEnd(node.body), NONE, isAnchored).work), ways: ONE };
    case 'sequence':
      return ofSequence(node.parts, follow, isAnchored);
    case 'choice':
      return ofChoice(node.options, follow, isAnchored);
    case 'repeat':
      return node.body.is === 'character'
        ? ofCharacters(node, follow, isAnchored)
        : ofRepeated(node, follow, isAnchored);
  }
}

function ofSequence(parts: Node[], follow: Characters, isAnchored: boolean): Measure {
  let next = follow;
  let rest: Measure = { work: ZERO, ways: ONE };
  for (const part of parts.toReversed()) {
    const { work, ways } = measured(part, next, isAnchored);
    rest = { work: sum(work, product(ways, rest.work)), ways: product(ways, rest.ways) };
    next = part.first | (part.isEmpty ? next : NONE);
  }
  return rest;
}

function ofChoice(options: Node[], follow: Characters, isAnchored: boolean): Measure {
  let begun = NONE;
  let areApart = true;
  let work = times(options.length);
  let [all, most] = [ZERO, ZERO];
  for (const option of options) {
    const one = measured(option, follow, isAnchored);
    const first = option.first | (option.isEmpty ? follow : NONE);
    areApart &&= (begun & first) === NONE;
    begun |= first;
    work = sum(work, one.work);
    all = sum(all, one.ways);
    most = greater(most, one.ways);
  }
  return { work, ways: areApart ? most : all };
}

type Repeat = Extract<Node, { is: 'repeat' }>;

/** One character, repeated: `[a-z]*`. */
function ofCharacters({ body, min, max }: Repeat, follow: Characters, isAnchored: boolean): Measure {
  const isOpen = (body.first & follow) !== NONE;
  // Each character is taken once and given back once, if giving it back cannot help.
  if (!isOpen && (max === Infinity || (isAnchored && max > STEPS_AT_ONCE)))
    return { work: { once: 1, perCharacter: 2 }, ways: ONE };
  if (max === Infinity) return { work: PER_CHARACTER, ways: { once: 0, perCharacter: 1 } };
  const width = max - min;
  return isOpen
    ? { work: times(max + 1), ways: times(width + 1) }
    : { work: times(max + width + 1), ways: ONE };
}

/** A repeated group. It may be unbounded only if it matches in one way at each place; otherwise the steps may grow without limit. */
function ofRepeated({ body, min, max }: Repeat, follow: Characters, isAnchored: boolean): Measure {
  const again = max > 1 ? body.first | follow : follow;
  const { work, ways } = measured(body, again, isAnchored);
  const isOpen = body.isEmpty || (body.first & follow) !== NONE;
  if (max === Infinity) {
    if (body.isEmpty || body.looks || !isSingle(ways)) return { work: ENDLESS, ways: ENDLESS };
    const perCharacter = work.once + 2 * work.perCharacter + 1;
    return { work: { once: 1, perCharacter }, ways: isOpen ? { once: 0, perCharacter: 1 } : ONE };
  }
  if (max > MOST_TIMES) return { work: ENDLESS, ways: ENDLESS };
  let [steps, ends, taken] = [ONE, min === 0 ? ONE : ZERO, ONE];
  for (let count = 1; count <= max; count += 1) {
    steps = sum(steps, product(taken, work));
    taken = product(taken, ways);
    if (count >= min) ends = sum(ends, taken);
  }
  return { work: steps, ways: !isOpen && isSingle(ways) ? ONE : ends };
}
