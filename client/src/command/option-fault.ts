import { parseArgs, type ParseArgsConfig } from 'node:util';

/** Options by name, as `parseArgs` takes them. */
export type OptionSpecs = NonNullable<ParseArgsConfig['options']>;

const LONGEST_SHOWN = 80;

/** The first thing that is wrong with the options among some words, as one sentence; undefined if nothing is. */
export function optionFault(words: string[], options: OptionSpecs): string | undefined {
  const { tokens } = parseArgs({ args: words, options, allowPositionals: true, strict: false, tokens: true });
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const { name, rawName, value, inlineValue } = token;
    const spec = Object.hasOwn(options, name) ? options[name] : undefined;
    if (spec === undefined) return `There is no option ${shown(rawName)}.`;
    if (spec.type === 'boolean') {
      if (value !== undefined) return `--${name} takes no value.`;
    } else if (value === undefined || value === '') return `--${name} has no value.`;
    else if (!inlineValue && value.startsWith('-'))
      return `--${name} has no value: "${shown(value)}" begins like an option; to use it as the value, write --${name}=${shown(value)}.`;
  }
  return undefined;
}

function shown(text: string): string {
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
}
