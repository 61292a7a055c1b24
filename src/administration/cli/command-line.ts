import { parseArgs, type ParseArgsConfig } from 'node:util';
import { shown, UsageError } from '../../platform/common/index.js';
import { IN_CLONE } from '../../platform/config/pure.js';
import { type Command, COMMON_OPTIONS, type Options } from './command.js';
import { usageOf } from './usage.js';

/** A parsed command line: a request for help on one or more commands, or a command with its values. */
export type Request =
  | { help: Command | readonly Command[] }
  | { command: Command; values: Record<string, unknown>; argument: string };

const HELP = 'help';
const HELP_OPTIONS = ['--help', '-h'];
const COMMON = ['--json', ...HELP_OPTIONS];

/**
 * Parses the words of a command line that follow the program, such as `npx tidemark admin`. Throws a UsageError whose
 * message is one line: the error, and the usage of the command. If the command is not known, a hint takes the place of
 * the usage.
 */
export function parseCommandLine(
  commands: readonly Command[],
  words: string[],
  admin = IN_CLONE.admin,
): Request {
  const ordered = commonOptionsLast(words);
  const leading = leadingWords(ordered);
  const name = leading.filter((word) => word !== HELP);
  const asksForHelp = name.length < leading.length || ordered.some((word) => HELP_OPTIONS.includes(word));
  if (asksForHelp || isNothingMore(commands, name, ordered)) return { help: helpOn(commands, name, admin) };
  const command = findCommand(commands, name);
  if (command === undefined) throw unknownCommand(commands, name, admin);
  const { values, positionals } = parseOptions(command, ordered.slice(command.name.split(' ').length), admin);
  demandAll(command, { values, positionals }, admin);
  return { command, values, argument: positionals[0] ?? '' };
}

/** Moves the common options to the end, because they are allowed anywhere, even before the name of the command. */
function commonOptionsLast(words: string[]): string[] {
  const isCommon = (word: string) => COMMON.includes(word);
  return [...words.filter((word) => !isCommon(word)), ...words.filter(isCommon)];
}

/** The words before the first option: the name of the command, and in some cases its argument. */
function leadingWords(words: string[]): string[] {
  const end = words.findIndex((word) => word.startsWith('-'));
  return end === -1 ? words : words.slice(0, end);
}

/** Whether the line has only the name of a group or no name at all, apart from common options. */
function isNothingMore(commands: readonly Command[], name: string[], words: string[]): boolean {
  const isName = name.length === 0 || (name.length === 1 && groupOf(commands, name) !== undefined);
  return isName && words.slice(name.length).every((word) => COMMON.includes(word));
}

function helpOn(commands: readonly Command[], name: string[], admin: string): Command | readonly Command[] {
  if (name.length === 0) return commands;
  const help = findCommand(commands, name) ?? (name.length === 1 ? groupOf(commands, name) : undefined);
  if (help === undefined) throw unknownCommand(commands, name, admin);
  return help;
}

function findCommand(commands: readonly Command[], words: string[]): Command | undefined {
  return commands.find(({ name }) => name.split(' ').every((part, index) => words[index] === part));
}

/** The commands that begin with a word, such as those of `credential`. */
function groupOf(commands: readonly Command[], [first]: string[]): readonly Command[] | undefined {
  const group = commands.filter(({ name }) => name.startsWith(`${first} `));
  return group.length === 0 ? undefined : group;
}

function unknownCommand(commands: readonly Command[], name: string[], admin: string): UsageError {
  const said = shown(name.slice(0, 2).join(' '));
  if (said === '') return new UsageError(`Name a command first, such as: ${admin} status`);
  const group = groupOf(commands, name);
  return new UsageError(
    `Unknown command "${said}". ${group ? commandsOf(group) : nearestHelp(commands, name, admin)}`,
  );
}

/** The nearest command, otherwise the commands of the nearest group; if no name is near, how to list all commands. */
function nearestHelp(commands: readonly Command[], name: string[], admin: string): string {
  const names = commands.map((command) => command.name);
  const first = name[0] ?? '';
  const closest = nearest(names, name.slice(0, 2).join(' ')) ?? nearest(names, first);
  const near = commands.find((command) => command.name === closest);
  if (near !== undefined) return `Did you mean: ${usageOf(near, admin)}`;
  const groups = names.filter((one) => one.includes(' ')).map((one) => one.split(' ')[0]!);
  const group = groupOf(commands, [nearest(groups, first) ?? first]);
  return group === undefined ? `All commands: ${admin} ${HELP}` : commandsOf(group);
}

function commandsOf(group: readonly Command[]): string {
  const names = group.map(({ name }) => name);
  return `Commands of ${names[0]?.split(' ')[0]}: ${names.join(', ')}`;
}

function parseOptions(command: Command, words: string[], admin: string): ReadWords {
  const read = readWords(words, { ...command.options, ...COMMON_OPTIONS });
  if (typeof read === 'string') throw wrong(command, read, admin);
  return read;
}

function demandAll(command: Command, { values, positionals }: ReadWords, admin: string): void {
  for (const [name, { required }] of Object.entries(command.options)) {
    if (required === true && (values[name] ?? '') === '') throw wrong(command, `--${name} is missing`, admin);
  }
  if (command.argument !== undefined && positionals.length === 0) {
    throw wrong(command, `${command.argument} is missing`, admin);
  }
  const surplus = positionals[command.argument === undefined ? 0 : 1];
  if (surplus !== undefined) throw wrong(command, `Unexpected argument "${shown(surplus)}"`, admin);
}

function wrong(command: Command, what: string, admin: string): UsageError {
  return new UsageError(`${what}. Usage: ${usageOf(command, admin)}`);
}

type Config = NonNullable<ParseArgsConfig['options']>;

/** The values of options by name, and the words that are neither options nor their values. */
interface ReadWords {
  values: Record<string, unknown>;
  positionals: string[];
}

/** Parses words by the options of a command. If one is wrong, returns the error, a sentence without its full stop. */
function readWords(words: string[], specs: Options): ReadWords | string {
  const options: Config = Object.fromEntries(
    Object.entries(specs).map(([name, { value }]) => [
      name,
      { type: value === undefined ? 'boolean' : 'string' },
    ]),
  );
  const { values, positionals, tokens } = parseArgs({
    ...{ args: words, options, allowPositionals: true, strict: false, tokens: true },
  });
  const named = new Set<string>();
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const { name, rawName, value, inlineValue } = token;
    const spec = Object.hasOwn(specs, name) ? specs[name] : undefined;
    if (spec === undefined) return unknownOption(rawName, Object.keys(specs));
    if (named.has(name)) return `--${name} is given more than once`;
    named.add(name);
    if (spec.value === undefined) {
      if (value !== undefined) return `--${name} takes no value`;
    } else if (value === undefined) return `--${name} has no value`;
    else if (!inlineValue && value.startsWith('-') && value !== '-')
      return `--${name} has no value: "${shown(value)}" begins like an option; to use it as the value, write --${name}=${shown(value)}`;
  }
  return { values, positionals };
}

function unknownOption(rawName: string, names: string[]): string {
  const near = rawName.startsWith('--') ? nearest(names, rawName.slice(2)) : undefined;
  return `There is no option ${shown(rawName)}${near === undefined ? '' : `; the nearest is --${near}`}`;
}

/**
 * A name is near a given word if they differ by at most one change per this many letters of the shorter one. A more
 * distant name would be a guess, and the guessed command may remove something.
 */
const LETTERS_FOR_EACH_CHANGE = 3;

/**
 * The name with the smallest edit distance to the given one, word by word; undefined if none is near. A change adds, removes
 * or replaces a letter, or swaps two neighbours.
 */
function nearest(names: readonly string[], said: string): string | undefined {
  const ranked = names.map((name) => ({ name, distance: distanceOfWords(name.split(' '), said.split(' ')) }));
  return ranked.filter(({ distance }) => distance < Infinity).sort((a, b) => a.distance - b.distance)[0]
    ?.name;
}

/** Infinity if any word is not near. */
function distanceOfWords(name: string[], said: string[]): number {
  if (name.length !== said.length) return Infinity;
  return name.reduce((sum, word, at) => {
    const distance = editDistance(word, said[at]!);
    const isNear = distance * LETTERS_FOR_EACH_CHANGE <= Math.min(word.length, said[at]!.length);
    return isNear ? sum + distance : Infinity;
  }, 0);
}

/** The restricted Damerau-Levenshtein distance (optimal string alignment), computed row by row. */
function editDistance(a: string, b: string): number {
  let twoAbove: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const isSame = a[row - 1] === b[column - 1];
      const isSwapped = !isSame && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current.push(
        Math.min(
          above[column - 1]! + (isSame ? 0 : 1),
          above[column]! + 1,
          current[column - 1]! + 1,
          isSwapped ? twoAbove[column - 2]! + 1 : Infinity,
        ),
      );
    }
    [twoAbove, above] = [above, current];
  }
  return above[b.length]!;
}
