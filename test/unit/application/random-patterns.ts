import type { Dice } from '../../model/random/dice.js';
import { atomic, character, edge, firstOf, joined, type Part, repeated, Subject } from './backtracking.js';

const COUNTS: [string, number, number][] = [
  ['*', 0, Infinity],
  ['*', 0, Infinity],
  ['+', 1, Infinity],
  ['?', 0, 1],
  ['?', 0, 1],
  ['{0,3}', 0, 3],
  ['{2}', 2, 2],
  ['{1,3}', 1, 3],
  ['{2,}', 2, Infinity],
  ['{0,25}', 0, 25],
];
const WAYS = ['', '', '', '', '?', '+'];
const CHARACTERS: [string, string][] = [
  ['a', 'a'],
  ['a', 'a'],
  ['b', 'b'],
  ['c', 'c'],
  ['[ab]', 'ab'],
  ['[bc]', 'bc'],
  ['[^a]', 'bc!\n'],
  ['[^b!]', 'ac\n'],
  ['\\w', 'abc'],
  ['\\W', '!\n'],
];
const EDGES = ['^', '$', '\\b', '\\B'];
const GROUPS = ['(', '(?:', '(?:', '(?:', '(?|', '(?>', '(?=', '(?!', '(?<='];
/** What the alternatives of a pattern begin with: each with one of a list. */
const BEGINNINGS = [[''], [''], ['^'], ['^'], ['\\A'], ['.*'], ['.*', '^'], ['', '^', '.*', '\\A']];

const isWord = (letter: string | undefined) => letter !== undefined && /\w/.test(letter);

/** A random pattern over few letters, in the part of PCRE's syntax whose cost can be told. */
export class RandomPattern {
  readonly source: string;
  readonly options: string;
  /** PCRE tries it at the beginning of the text only. */
  readonly isAnchored: boolean;
  private readonly isOfLines: boolean;
  private readonly alternatives: Part[];

  constructor(private readonly dice: Dice) {
    this.options = dice.pick(['', '', '', 'i', 's', 'm', 'x']);
    const beginnings = dice.pick(BEGINNINGS);
    this.alternatives = Array.from({ length: dice.pick([1, 1, 1, 2, 3]) }, () =>
      joined([...this.beginning(dice.pick(beginnings)), this.parts(3)]),
    );
    this.source = this.alternatives.map(({ source }) => source).join('|');
    const allBegin = (all: string[]) =>
      this.alternatives.every(({ begins }) => begins.every((one) => all.includes(one)));
    const ofText = this.options === 'm' ? ['\\A'] : ['\\A', '^'];
    this.isAnchored = allBegin(this.options === 's' ? [...ofText, '.*'] : ofText);
    this.isOfLines = this.options !== 's' && allBegin(['^', '.*']);
  }

  /** A text that one of its alternatives may match. */
  sample(): string {
    return this.dice.pick(this.alternatives).sample();
  }

  /** Its steps on a text. Throws StepsError if they are more than `most`. */
  stepsOn(text: string, most: number): number {
    const subject = new Subject(text, most);
    const run = firstOf(this.alternatives);
    for (let start = 0; start <= text.length; start += 1) {
      if (start > 0 && this.isAnchored) break;
      if (start > 0 && this.isOfLines && text[start - 1] !== '\n') continue;
      if (run(subject, start, () => true)) break;
    }
    return subject.steps;
  }

  private beginning(source: string): Part[] {
    if (source === '' && this.dice.chance(0.5)) return [];
    if (source === '') {
      const word = Array.from({ length: 1 + this.dice.below(8) }, () => this.dice.pick(['a', 'a', 'b', 'c']));
      return word.map((letter) => character(letter, letter));
    }
    if (source === '.*') return [this.repeated(this.dot(), ['*', 0, Infinity], false)];
    return [this.edge(source)];
  }

  private parts(depth: number): Part {
    return joined(Array.from({ length: this.dice.pick([1, 1, 2, 2, 3, 4]) }, () => this.part(depth)));
  }

  private part(depth: number): Part {
    const one = depth > 0 && this.dice.chance(0.35) ? this.group(depth - 1) : this.simple();
    if (one.isEdge === true || this.dice.chance(0.45)) return one;
    const way = this.dice.pick(WAYS);
    const some = this.repeated(one, this.dice.pick(COUNTS), way === '?');
    return way === '+' ? atomic(`${some.source}+`, some) : some;
  }

  private repeated(one: Part, count: [string, number, number], isLazy: boolean): Part {
    return repeated(one, count, isLazy, (limit) => this.dice.below(limit));
  }

  private simple(): Part {
    if (this.dice.chance(0.1)) return this.dot();
    if (this.dice.chance(0.2)) return this.edge(this.dice.pick(EDGES));
    const [source, letters] = this.dice.pick(CHARACTERS);
    return character(source, letters);
  }

  private dot(): Part {
    return character('.', this.options === 's' ? 'abc!\n' : 'abc!');
  }

  private edge(source: string): Part {
    return edge(source, ({ text }, at) => {
      const isWithin = isWord(text[at - 1]) === isWord(text[at]);
      if (source === '\\b') return !isWithin;
      if (source === '\\B') return isWithin;
      const ofLines = this.options === 'm' ? '\n' : undefined;
      if (source === '$') return at >= text.length - Number(text.endsWith('\n')) || text[at] === ofLines;
      return at === 0 || (source === '^' && text[at - 1] === ofLines);
    });
  }

  private group(depth: number): Part {
    const kind = this.dice.pick(GROUPS);
    const options = Array.from({ length: this.dice.pick([1, 1, 2, 2, 3]) }, () => this.parts(depth));
    if (this.dice.chance(0.15)) options.push(joined([]));
    const run = firstOf(options);
    const source = `${kind}${options.map((one) => one.source).join('|')})`;
    const begins = options.flatMap((one) => one.begins);
    const group = { source, run, begins, sample: () => this.dice.pick(options).sample() };
    switch (kind) {
      case '(?>':
        return atomic(source, group);
      case '(?=':
        return edge(source, (subject, at) => run(subject, at, () => true));
      case '(?!':
        return edge(source, (subject, at) => !run(subject, at, () => true));
      case '(?<=': {
        const letter = this.dice.pick(['a', 'b']);
        return edge(`${kind}${letter})`, (subject, at) => {
          subject.step();
          return subject.text[at - 1] === letter;
        });
      }
      default:
        return group;
    }
  }
}
