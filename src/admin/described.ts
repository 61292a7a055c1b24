import { type Layout, padTo, type Wording, type Tone, toned, widthOf, wrapped } from './layout.js';
import { visible } from '../common/index.js';

const GAP = '  ';
/** A text is no narrower, whatever the terminal is. */
const LEAST = 20;

/** What something is about, what is said of it, and in which tone. Nothing in front goes on with what stands before. */
export type SaidLine = readonly [about: string, text: string, tone?: Tone | undefined];

/** Texts beside what they are about, which stands in front of each; long ones go on below where they began. */
export function described(lines: readonly SaidLine[]): Wording {
  const width = Math.max(0, ...lines.map(([about]) => widthOf(about)));
  return (layout) => lines.flatMap((line) => oneDescribed(line, width, layout)).join('\n');
}

function oneDescribed([about, text, tone]: SaidLine, width: number, layout: Layout): string[] {
  const room = Math.max(LEAST, layout.columns - width - GAP.length);
  const [first = '', ...others] = wrapped(visible(text), room).map((line) => toned(line, tone, layout));
  const front = toned(about, 'bold', layout) + padTo(width, about).slice(about.length) + GAP;
  return [front + first, ...others.map((line) => ' '.repeat(width) + GAP + line)];
}
