import { patternCost } from '../../../src/application/pattern/cost.js';
import { NotUnderstoodError } from '../../../src/application/pattern/cursor.js';
import { Dice } from '../../model/random/dice.js';
import { runs } from '../../support/runs.js';
import { StepsError } from './backtracking.js';
import { RandomPattern } from './random-patterns.js';

/** Patterns that declare more are left out: it would take long to try them. */
const MOST_STEPS = 300;
const PATTERNS = 400;
/** The lengths of the texts on which bad ones are looked for, and on which they are tried. */
const [SHORT, LONG] = [24, 150];
/** The search for bad texts: how many are kept of a round, and how many changes of each are tried in the next. */
const [ROUNDS, KEPT, CHANGES] = [3, 5, 4];
/** Steps that are taken once for a text count as those of this many characters. */
const ALLOWANCE = 13;

/** A text of any length: a beginning, letters that are repeated, and an end. */
type Recipe = [string, string, string];

const LETTERS = ['a', 'b', 'c', '!', '\n', 'ab', 'aab'];

function textOf([begin, word, end]: Recipe, length: number): string {
  const room = Math.max(length - begin.length - end.length, 0);
  return `${begin}${word.repeat(Math.ceil(room / Math.max(word.length, 1))).slice(0, room)}${end}`;
}

function changed([...recipe]: Recipe, dice: Dice, pattern: RandomPattern): Recipe {
  const index = dice.below(recipe.length);
  const text = recipe[index]!;
  const at = dice.below(text.length + 1);
  const letter = dice.pick(LETTERS);
  recipe[index] = dice.pick([
    ...[
      `${text.slice(0, at)}${letter}${text.slice(at)}`,
      `${text.slice(0, at)}${letter}${text.slice(at + 1)}`,
    ],
    ...[`${text.slice(0, at)}${text.slice(at + 1)}`, pattern.sample()],
  ]);
  return recipe;
}

function declared({ source, options }: RandomPattern): number {
  try {
    return patternCost(source, options);
  } catch (error) {
    if (error instanceof NotUnderstoodError) return Infinity;
    throw error;
  }
}

/** A text on which a pattern takes more steps than it declares; undefined if the search finds none. */
function excess(pattern: RandomPattern, cost: number, dice: Dice): string | undefined {
  const most = ({ length }: string) =>
    cost * (pattern.isAnchored ? length + ALLOWANCE : Math.max(length + 1, ALLOWANCE));
  const share = (text: string) => {
    try {
      return pattern.stepsOn(text, Math.ceil(most(text))) / most(text);
    } catch (error) {
      if (error instanceof StepsError) return Infinity;
      throw error;
    }
  };
  const judged = (recipe: Recipe) => ({ recipe, share: share(textOf(recipe, SHORT)) });
  const samples = Array.from({ length: 10 }, () => pattern.sample());
  const words = [...LETTERS, ...samples, ...samples.map((one) => one.slice(0, -1))];
  let worst = words.flatMap((word) => [judged(['', word, '']), judged(['', word, '!'])]);
  for (let round = 0; round <= ROUNDS; round += 1) {
    worst = worst.toSorted((one, other) => other.share - one.share).slice(0, KEPT);
    if (round === ROUNDS) break;
    const next = worst.flatMap(({ recipe }) =>
      Array.from({ length: CHANGES }, () => judged(changed(recipe, dice, pattern))),
    );
    worst.push(...next);
  }
  return worst
    .flatMap(({ recipe }) => [textOf(recipe, SHORT), textOf(recipe, LONG)])
    .find((text) => share(text) > 1);
}

it('a random pattern takes no more steps for each character of a text than it declares', () => {
  let accepted = 0;
  for (let seed = 1; seed <= runs(PATTERNS); seed += 1) {
    const dice = new Dice(seed);
    const pattern = new RandomPattern(dice);
    const cost = declared(pattern);
    if (cost > MOST_STEPS) continue;
    accepted += 1;
    const { source, options } = pattern;
    const text = excess(pattern, cost, dice);
    expect({ seed, source, options, cost, text }).toEqual({ seed, source, options, cost });
  }
  expect(accepted).toBeGreaterThan(runs(PATTERNS) / 5);
});
