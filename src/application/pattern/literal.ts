import { type Characters, type Node, NONE } from './tree.js';

/** Longer texts are compared as what follows a text of this length. */
const LONGEST = 50;

/** How a pattern begins: conditions such as `\b`, then a plain text, then what is tried after each match of that. */
export interface PlainStart {
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
  const end = Math.min(isNot('character', edges), edges + LONGEST);
  return { edges, text: parts.slice(edges, end).map(({ first }) => first), rest: parts.slice(end) };
}

/**
 * The most comparisons for each character if a text is looked for from every character on. Two attempts pass over the same
 * character only if the later one began within the text that the earlier one had matched.
 */
export function comparisons(text: Characters[]): number {
  const begunWithin = text.filter((one, at) => at > 0 && (one & text[0]!) !== NONE).length;
  return Math.min(text.length, 2 + begunWithin);
}

/** The least distance between two places at which the text may match. */
export function distance(text: Characters[]): number {
  for (let shift = 1; shift < text.length; shift += 1)
    if (text.every((one, at) => at < shift || (one & text[at - shift]!) !== NONE)) return shift;
  return Math.max(text.length, 1);
}
