import { COMMON_OPTIONS, type Command, type Option } from '../command.js';

/** What may stand in a place of a command line: one of some words, a file, a file behind an `@`, or anything. */
export type Expected = { choices: string[] } | 'file' | 'file behind @' | 'anything';

/** An option as a completion knows it; without `expected` it is a flag. */
export interface KnownOption {
  /** With its hyphens. */
  name: string;
  description: string;
  /** As the help names it, such as `member|product`. */
  value?: string;
  expected?: Expected;
}

/** A command as a completion knows it. */
export interface KnownCommand {
  name: string;
  summary: string;
  options: KnownOption[];
  /** What comes without an option, as the help names it. */
  argument?: { value: string; expected: Expected };
}

/** The first words of the commands, each with what it begins: a command, or a group of them. */
export interface FirstWord {
  word: string;
  summary: string;
  /** Second words of a group. */
  seconds: { word: string; summary: string }[];
}

export function knownCommand({ name, summary, options, argument }: Command): KnownCommand {
  return {
    ...{ name, summary },
    options: Object.entries<Option>({ ...options, ...COMMON_OPTIONS }).map(knownOption),
    ...(argument !== undefined && { argument: { value: argument, expected: expectedFrom(argument) } }),
  };
}

export function firstWords(commands: readonly Command[]): FirstWord[] {
  const found = new Map<string, FirstWord>();
  for (const { name, summary } of commands) {
    const [word = '', second] = name.split(' ');
    const first = found.get(word) ?? { word, summary, seconds: [] };
    if (second !== undefined) first.seconds.push({ word: second, summary });
    found.set(word, first);
  }
  return [...found.values()].map((first) =>
    first.seconds.length === 0
      ? first
      : { ...first, summary: first.seconds.map(({ word }) => word).join(', ') },
  );
}

/** What the help calls a value says what it is: `member|product` are words, `@FILE` and `FILE` are files. */
export function expectedFrom(value: string): Expected {
  const parts = value.split('|');
  if (parts.length > 1 && parts.every((part) => /^[a-z][a-z-]*$/.test(part))) return { choices: parts };
  if (parts.includes('@FILE')) return 'file behind @';
  return parts.some((part) => /^FILE\b/.test(part)) ? 'file' : 'anything';
}

function knownOption([name, { description, value }]: [string, Option]): KnownOption {
  return {
    ...{ name: `--${name}`, description },
    ...(value !== undefined && { value, expected: expectedFrom(value) }),
  };
}
