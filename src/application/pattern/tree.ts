/** Characters: a bit for each of ASCII, and one for all others together. */
export type Characters = bigint;

const ASCII = 128;
export const NONE: Characters = 0n;
export const EVERY: Characters = (1n << BigInt(ASCII + 1)) - 1n;
const OTHERS: Characters = 1n << BigInt(ASCII);

/** The properties of a node that others use; they are computed once, when it is created. */
interface Shape {
  /** Characters with which it may begin; all of them if that is unknown. */
  first: Characters;
  /** It may match the empty text. */
  isEmpty: boolean;
  /** All characters that it may take. */
  all: Characters;
  /** Characters that an unbounded repetition within it takes. */
  endless: Characters;
  /** How many characters it takes at most outside of such repetitions. */
  fixed: number;
  /** It contains a lookahead or a lookbehind. */
  looks: boolean;
}

/** A regular expression, reduced to what decides its cost. */
export type Node = Shape &
  (
    | { is: 'character'; isDot: boolean }
    /** Takes nothing and may fail: `$`, `\b`. */
    | { is: 'edge' }
    /** Holds at the beginning of the text only. */
    | { is: 'start' }
    | { is: 'look'; body: Node }
    | { is: 'sequence'; parts: Node[] }
    | { is: 'choice'; options: Node[] }
    | { is: 'repeat'; body: Node; min: number; max: number }
  );

const NOTHING: Shape = { first: NONE, isEmpty: true, all: NONE, endless: NONE, fixed: 0, looks: false };

export const EDGE: Node = { is: 'edge', ...NOTHING };
export const START: Node = { is: 'start', ...NOTHING };

export function character(characters: Characters, isDot = false): Node {
  return { ...NOTHING, is: 'character', first: characters, isEmpty: false, all: characters, fixed: 1, isDot };
}

/** It is tried whatever character comes next. */
export function look(body: Node): Node {
  return { ...body, is: 'look', body, first: EVERY, isEmpty: true, looks: true };
}

export function sequence(parts: Node[]): Node {
  const begun = parts.findIndex(({ isEmpty }) => !isEmpty);
  const beginning = begun < 0 ? parts : parts.slice(0, begun + 1);
  return {
    ...joined(parts),
    ...{ is: 'sequence', parts, isEmpty: begun < 0 },
    first: beginning.reduce((first, part) => first | part.first, NONE),
    fixed: parts.reduce((sum, part) => sum + part.fixed, 0),
  };
}

export function choice(options: Node[]): Node {
  return {
    ...joined(options),
    ...{ is: 'choice', options, isEmpty: options.some(({ isEmpty }) => isEmpty) },
    fixed: Math.max(...options.map(({ fixed }) => fixed)),
  };
}

export function repeat(body: Node, min: number, max: number): Node {
  const isEndless = max === Infinity;
  return {
    ...body,
    ...{ is: 'repeat', body, min, max, isEmpty: min === 0 || body.isEmpty },
    endless: isEndless ? body.all : body.endless,
    fixed: isEndless ? min * body.fixed : max * body.fixed,
  };
}

function joined(nodes: Node[]): Shape {
  return nodes.reduce<Shape>(
    (sum, { first, all, endless, looks }) => ({
      ...sum,
      ...{ first: sum.first | first, all: sum.all | all, endless: sum.endless | endless },
      looks: sum.looks || looks,
    }),
    NOTHING,
  );
}

/** The character of a code point; in both cases if case is ignored. */
export function codes(from: number, to: number, ignoreCase = false): Characters {
  let set = to >= ASCII ? OTHERS : NONE;
  for (let code = from; code <= Math.min(to, ASCII - 1); code += 1) {
    set |= 1n << BigInt(code);
    if (ignoreCase) set |= otherCase(String.fromCharCode(code));
  }
  // If case is ignored, a letter outside ASCII may equal an ASCII letter.
  return ignoreCase && to >= ASCII ? set | codes(0, ASCII - 1) : set;
}

/** All but these. */
export function except(set: Characters): Characters {
  // The bit for the others stays set: excluding some of them leaves the rest.
  return (EVERY & ~set) | OTHERS;
}

/** If case is ignored, the Kelvin sign equals k, and the long s equals s. */
function otherCase(letter: string): Characters {
  const [lower, upper] = [letter.toLowerCase(), letter.toUpperCase()];
  if (lower === upper) return NONE;
  const both = (1n << BigInt(lower.charCodeAt(0))) | (1n << BigInt(upper.charCodeAt(0)));
  return lower === 'k' || lower === 's' ? both | OTHERS : both;
}
