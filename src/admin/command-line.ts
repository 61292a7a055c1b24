import { parseArgs, type ParseArgsConfig } from 'node:util';
import { FatalError, shown } from '../common/index.js';
import { COMMON_OPTIONS, type Command } from './command.js';
import { nearest } from './nearest.js';
import { usageOf } from './usage.js';

/** What a command line asks for: help on some commands or one of them, or a command with its values. */
export type Request =
  | { help: Command | readonly Command[] }
  | { command: Command; values: Record<string, unknown>; argument: string; json: boolean };

const HELP = ['help', '--help', '-h'];

/** Reads the words of a command line; throws a FatalError whose line tells what was wrong and the nearest usage. */
export function parseCommandLine(commands: readonly Command[], words: string[]): Request {
  if (words.length === 0 || HELP.includes(words[0] ?? '')) {
    return { help: findCommand(commands, words.slice(1)) ?? groupOf(commands, words.slice(1)) ?? commands };
  }
  const command = findCommand(commands, words);
  const group = groupOf(commands, words);
  if (command === undefined && group !== undefined && isHelp(words[1])) return { help: group };
  if (command === undefined) throw unknownCommand(commands, words);
  const rest = words.slice(command.name.split(' ').length);
  const { values, positionals } = parseOptions(command, rest);
  if (values['help'] === true) return { help: command };
  demandAll(command, values, positionals);
  return { command, values, argument: positionals[0] ?? '', json: values['json'] === true };
}

function findCommand(commands: readonly Command[], words: string[]): Command | undefined {
  return commands.find(({ name }) => name.split(' ').every((part, index) => words[index] === part));
}

/** The commands that begin with a word, such as those of `credential`. */
function groupOf(commands: readonly Command[], [first]: string[]): readonly Command[] | undefined {
  const group = commands.filter(({ name }) => name.startsWith(`${first} `));
  return group.length === 0 ? undefined : group;
}

function isHelp(word: string | undefined): boolean {
  return word === undefined || HELP.includes(word);
}

function unknownCommand(commands: readonly Command[], words: string[]): FatalError {
  const said = words.slice(0, 2).filter((word) => !word.startsWith('-'));
  const names = commands.map(({ name }) => name);
  const name = nearest(names, said.join(' '));
  const near = commands.find((command) => command.name === name);
  return new FatalError(
    `There is not a command "${shown(said.join(' '))}". The nearest is: ${near === undefined ? '' : usageOf(near)}`,
  );
}

type Parsed = { values: Record<string, unknown>; positionals: string[] };

function parseOptions(command: Command, words: string[]): Parsed {
  const specs = { ...command.options, ...COMMON_OPTIONS };
  const options: NonNullable<ParseArgsConfig['options']> = Object.fromEntries(
    Object.entries(specs).map(([name, spec]) => [name, { type: 'value' in spec ? 'string' : 'boolean' }]),
  );
  try {
    const { values, positionals } = parseArgs({ args: words, options, allowPositionals: true, strict: true });
    return { values, positionals };
  } catch (error) {
    throw wrong(command, firstSentence((error as Error).message));
  }
}

function demandAll(command: Command, values: Record<string, unknown>, positionals: string[]): void {
  for (const [name, { required }] of Object.entries(command.options)) {
    if (required === true && (values[name] ?? '') === '') throw wrong(command, `--${name} is missing`);
  }
  if (command.argument !== undefined && positionals.length === 0) {
    throw wrong(command, `${command.argument} is missing`);
  }
  const surplus = positionals[command.argument === undefined ? 0 : 1];
  if (surplus !== undefined) throw wrong(command, `"${shown(surplus)}" is too much`);
}

function wrong(command: Command, what: string): FatalError {
  return new FatalError(`${what}. Usage: ${usageOf(command)}`);
}

/** Node explains further how to pass words that begin with a hyphen; one sentence is enough here. */
function firstSentence(message: string): string {
  return shown(message.split(/\. |\n/)[0] ?? message);
}
