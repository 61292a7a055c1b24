/**
 * A number of steps, or of ways to continue: a constant, plus a number per character of the text. Faster growth is
 * Infinity.
 */
export interface Growth {
  once: number;
  perCharacter: number;
}

export const ONE: Growth = { once: 1, perCharacter: 0 };
export const ZERO: Growth = { once: 0, perCharacter: 0 };
export const PER_CHARACTER: Growth = { once: 1, perCharacter: 1 };
export const ENDLESS: Growth = { once: Infinity, perCharacter: Infinity };

export function times(count: number): Growth {
  return { once: count, perCharacter: 0 };
}

export function sum(...several: Growth[]): Growth {
  return several.reduce((one, other) => ({
    once: one.once + other.once,
    perCharacter: one.perCharacter + other.perCharacter,
  }));
}

/** Quadratic growth, or a number that is not finite, counts as endless. */
export function product(one: Growth, other: Growth): Growth {
  if (isNone(one) || isNone(other)) return ZERO;
  const once = one.once * other.once;
  const perCharacter = one.once * other.perCharacter + one.perCharacter * other.once;
  const isEndless = one.perCharacter * other.perCharacter > 0 || !Number.isFinite(once + perCharacter);
  return isEndless ? ENDLESS : { once, perCharacter };
}

export function greater(one: Growth, other: Growth): Growth {
  return {
    once: Math.max(one.once, other.once),
    perCharacter: Math.max(one.perCharacter, other.perCharacter),
  };
}

export function isSingle({ once, perCharacter }: Growth): boolean {
  return once <= 1 && perCharacter === 0;
}

export function isConstant({ perCharacter }: Growth): boolean {
  return perCharacter === 0;
}

function isNone({ once, perCharacter }: Growth): boolean {
  return once === 0 && perCharacter === 0;
}

const ASCII = 128;
export const NONE: Characters = 0n;
export const EVERY: Characters = (1n << BigInt(ASCII + 1)) - 1n;
const OTHERS: Characters = 1n << BigInt(ASCII);

/** A bounded repetition of one character with a larger maximum counts as long. */
export const LONG = 20;

const NOTHING: Shape = {
  ...{ first: NONE, isEmpty: true, all: NONE, endless: NONE, fixed: 0, long: NONE, brief: 0 },
  ...{ looks: false, idle: 0, empties: 1 },
};

export const EDGE: Node = { ...NOTHING, is: 'edge', idle: 1 };
export const CARET: Node = { ...NOTHING, is: 'start', isCaret: true, idle: 1 };
export const START: Node = { ...NOTHING, is: 'start', isCaret: false, idle: 1 };

/**
 * Maximum length of a plain start. The characters of a longer text beyond this length count as part of the rest of the
 * pattern.
 */
const LONGEST_START = 50;

/** A set of characters: one bit for each ASCII character, and one for all others together. */
export type Characters = bigint;

/** The properties of a node that its parents use; computed once, when it is created. */
interface Shape {
  /** Characters with which it may begin; all of them if that is unknown. */
  first: Characters;
  /** It may match the empty text. */
  isEmpty: boolean;
  /** All characters that it may take. */
  all: Characters;
  /** Characters that an unbounded repetition within it takes. */
  endless: Characters;
  /** The maximum number of characters that it takes outside of such repetitions. */
  fixed: number;
  /** The same two, if a long repetition of one character counts as unbounded. */
  long: Characters;
  brief: number;
  /** It contains a lookahead or a lookbehind. */
  looks: boolean;
  /** The maximum number of steps if the next character is none of `first`. */
  idle: number;
  /** The number of ways in which it may match the empty text in that case. */
  empties: number;
}

/** A regular expression, reduced to the properties that decide its cost. */
export type Node = Shape &
  (
    | { is: 'character'; isDot: boolean }
    /** Takes nothing and may fail: `$`, `\b`. */
    | { is: 'edge' }
    /** Holds at the beginning of the text only: `^` or `\A`. */
    | { is: 'start'; isCaret: boolean }
    | { is: 'look'; body: Node }
    | { is: 'sequence'; parts: Node[] }
    | { is: 'choice'; options: Node[] }
    | { is: 'repeat'; body: Node; min: number; max: number }
  );

export function character(characters: Characters, isDot = false): Node {
  const shape = { ...NOTHING, first: characters, all: characters, fixed: 1, brief: 1, idle: 1 };
  return { ...shape, is: 'character', isEmpty: false, empties: 0, isDot };
}

/** A lookaround, which is tried regardless of the next character. */
export function look(body: Node): Node {
  const shape = { ...body, first: EVERY, isEmpty: true, looks: true };
  return { ...shape, is: 'look', body, idle: 1 + body.idle, empties: 1 };
}

export function sequence(parts: Node[]): Node {
  const begun = parts.findIndex(({ isEmpty }) => !isEmpty);
  const beginning = begun < 0 ? parts : parts.slice(0, begun + 1);
  const { idle, empties } = beginning.reduceRight<Idle>((rest, part) => before(part, rest), NOTHING);
  return {
    ...joined(parts),
    ...{ is: 'sequence', parts, isEmpty: begun < 0, idle, empties },
    first: beginning.reduce((first, part) => first | part.first, NONE),
    fixed: parts.reduce((sum, part) => sum + part.fixed, 0),
    brief: parts.reduce((sum, part) => sum + part.brief, 0),
  };
}

/** A group, with one or more options. */
export function choice(options: Node[]): Node {
  return {
    ...joined(options),
    ...{ is: 'choice', options, isEmpty: options.some(({ isEmpty }) => isEmpty) },
    fixed: options.reduce((most, { fixed }) => Math.max(most, fixed), 0),
    brief: options.reduce((most, { brief }) => Math.max(most, brief), 0),
    idle: options.reduce((sum, { idle }) => sum + 1 + idle, 0),
    empties: options.reduce((sum, { empties }) => sum + empties, 0),
  };
}

export function repeat(body: Node, min: number, max: number): Node {
  const isEndless = max === Infinity;
  const isLong = isEndless || (body.is === 'character' && max > LONG);
  return {
    ...body,
    ...{ is: 'repeat', body, min, max, isEmpty: min === 0 || body.isEmpty, ...idleOf(body, min, max) },
    endless: isEndless ? body.all : body.endless,
    fixed: (isEndless ? min : max) * body.fixed,
    long: isLong ? body.all : body.long,
    brief: (isLong ? min : max) * body.brief,
  };
}

type Idle = Pick<Shape, 'idle' | 'empties'>;

/** The steps and empty matches of a part and the rest after it, if neither can take the next character. */
export function before(part: Idle, rest: Idle): Idle {
  const reached = (count: number) => (count === 0 || part.empties === 0 ? 0 : part.empties * count);
  return { idle: part.idle + reached(rest.idle), empties: reached(rest.empties) };
}

/** The characters of a range of code points, in upper and lower case if case is ignored. */
export function codes(from: number, to: number, ignoreCase = false): Characters {
  let set = to >= ASCII ? OTHERS : NONE;
  for (let code = from; code <= Math.min(to, ASCII - 1); code += 1) {
    set |= 1n << BigInt(code);
    if (ignoreCase) set |= otherCase(String.fromCharCode(code));
  }
  // If case is ignored, a letter outside ASCII may equal an ASCII letter.
  return ignoreCase && to >= ASCII ? set | codes(0, ASCII - 1) : set;
}

/** All characters but these. */
export function except(set: Characters): Characters {
  // The bit for the characters beyond ASCII stays set: a set that contains some of them does not contain all.
  return (EVERY & ~set) | OTHERS;
}

/**
 * The beginning of a pattern: conditions such as `\b`, then a plain text, then the rest that is tried after each
 * match of the text.
 */
interface PlainStart {
  edges: number;
  text: Characters[];
  rest: Node[];
}

export function beginningOf(node: Node): PlainStart {
  const parts = node.is === 'sequence' ? node.parts : [node];
  const isNot = (kind: Node['is'], from: number) => {
    const index = parts.findIndex(({ is }, at) => at >= from && is !== kind);
    return index < 0 ? parts.length : index;
  };
  const edges = isNot('edge', 0);
  const end = Math.min(isNot('character', edges), edges + LONGEST_START);
  return { edges, text: parts.slice(edges, end).map(({ first }) => first), rest: parts.slice(end) };
}

/**
 * The maximum number of comparisons per character if a text is searched for at every character. Two attempts pass
 * over the same character only if the later one began within the text that the earlier one had matched.
 */
export function comparisons(text: Characters[]): number {
  const begunWithin = text.filter((one, at) => at > 0 && (one & text[0]!) !== NONE).length;
  return Math.min(text.length, 2 + begunWithin);
}

/** The minimum distance between two places at which the text may match. */
export function distance(text: Characters[]): number {
  for (let shift = 1; shift < text.length; shift += 1)
    if (text.every((one, at) => at < shift || (one & text[at - shift]!) !== NONE)) return shift;
  return Math.max(text.length, 1);
}

/**
 * The steps and empty matches of a repetition. An empty repetition may be followed by another one, up to the maximum.
 * In an unbounded repetition, an empty one is not repeated.
 */
function idleOf(body: Node, min: number, max: number): Idle {
  const times = max === Infinity || body.empties === 0 ? Math.min(max, Math.max(min, 1)) : max;
  // Each repetition costs the same. In all other cases, the numbers reach 0 or Infinity after a few of them.
  if (body.empties === 1 && body.idle < Infinity)
    return { idle: times * (1 + body.idle), empties: min === 0 ? 1 + times : 1 + times - min };
  let [idle, empties, reached] = [0, min === 0 ? 1 : 0, 1];
  for (let count = 1; count <= times && reached > 0 && idle < Infinity; count += 1) {
    idle += reached * (1 + body.idle);
    reached *= body.empties;
    if (count >= min) empties += reached;
  }
  return { idle, empties };
}

function joined(nodes: Node[]): Shape {
  const shape = { ...NOTHING };
  for (const { first, all, endless, long, looks } of nodes) {
    shape.first |= first;
    shape.all |= all;
    shape.endless |= endless;
    shape.long |= long;
    shape.looks ||= looks;
  }
  return shape;
}

/** If case is ignored, the Kelvin sign equals k, and the long s equals s. */
function otherCase(letter: string): Characters {
  const [lower, upper] = [letter.toLowerCase(), letter.toUpperCase()];
  if (lower === upper) return NONE;
  const both = (1n << BigInt(lower.charCodeAt(0))) | (1n << BigInt(upper.charCodeAt(0)));
  return lower === 'k' || lower === 's' ? both | OTHERS : both;
}
