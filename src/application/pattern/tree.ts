/** Characters: a bit for each of ASCII, and one for all others together. */
export type Characters = bigint;

const ASCII = 128;
export const NONE: Characters = 0n;
export const EVERY: Characters = (1n << BigInt(ASCII + 1)) - 1n;
const OTHERS: Characters = 1n << BigInt(ASCII);

/** What a node may look like from outside; the sizes are computed once, when it is made. */
interface Shape {
  /** With which characters it may begin; every one where that cannot be told. */
  first: Characters;
  /** It may take no character. */
  isEmpty: boolean;
  /** All characters that it may take. */
  all: Characters;
  /** Those that a repetition without end within it takes. */
  endless: Characters;
  /** How many characters it takes at most outside of such repetitions. */
  fixed: number;
  /** It looks ahead or behind. */
  looks: boolean;
}

/** A regular expression, as far as its cost goes by it. */
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

/** It is tried wherever it stands, whatever comes there. */
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

/** The character of a code point; in either case where case is not looked at. */
export function codes(from: number, to: number, ignoreCase = false): Characters {
  let set = to >= ASCII ? OTHERS : NONE;
  for (let code = from; code <= Math.min(to, ASCII - 1); code += 1) {
    set |= 1n << BigInt(code);
    if (ignoreCase) set |= otherCase(String.fromCharCode(code));
  }
  // Without case a letter that is not ASCII may be the same as one that is.
  return ignoreCase && to >= ASCII ? set | codes(0, ASCII - 1) : set;
}

/** All but these. */
export function except(set: Characters): Characters {
  // Others are many: that some of them are excluded leaves the rest.
  return (EVERY & ~set) | OTHERS;
}

/** The Kelvin sign is a k without case, and the long s an s. */
function otherCase(letter: string): Characters {
  const [lower, upper] = [letter.toLowerCase(), letter.toUpperCase()];
  if (lower === upper) return NONE;
  const both = (1n << BigInt(lower.charCodeAt(0))) | (1n << BigInt(upper.charCodeAt(0)));
  return lower === 'k' || lower === 's' ? both | OTHERS : both;
}
