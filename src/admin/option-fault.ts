import { parseArgs, type ParseArgsConfig } from 'node:util';
import { shown } from '../common/index.js';
import type { Options } from './command.js';
import { nearest } from './nearest.js';

type Config = NonNullable<ParseArgsConfig['options']>;

/** The values of options by name, and the words that are neither. */
export interface ReadWords {
  values: Record<string, unknown>;
  positionals: string[];
}

/** Reads words by the options that a command has; answers one sentence, without its full stop, where they are wrong. */
export function readWords(words: string[], specs: Options): ReadWords | string {
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
      return `--${name} has no value: "${shown(value)}" is an option, or write --${name}=${shown(value)}`;
  }
  return { values, positionals };
}

function unknownOption(rawName: string, names: string[]): string {
  const near = rawName.startsWith('--') ? nearest(names, rawName.slice(2)) : undefined;
  return `There is no option ${shown(rawName)}${near === undefined ? '' : `; the nearest is --${near}`}`;
}
