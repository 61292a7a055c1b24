import type { Command } from '../command.js';
import { type Expected, firstWords, type KnownCommand, knownCommand, type KnownOption } from './expected.js';
import { PROGRAM } from './program.js';

/** A script for zsh that completes the words of a command line, to be sourced or put into the `fpath`. */
export function zshCompletion(commands: readonly Command[]): string {
  const firsts = firstWords(commands);
  const groups = firsts.filter(({ seconds }) => seconds.length > 0);
  const all = [{ word: 'help', summary: 'Show help' }, ...firsts];
  return `#compdef ${PROGRAM}
# Completion of ${PROGRAM} for zsh:  source <(${PROGRAM} completion zsh)
_tidemark_admin_at() {
  if compset -P @; then _files; else compadd -S '' -- @; fi
}
_tidemark_admin() {
  local -a names
  [[ $words[2] == help ]] && (( CURRENT > 2 )) && { words[2]=(); (( CURRENT -= 1 )); }
  if (( CURRENT == 2 )); then
    names=(${all.map(described).join(' ')})
    _describe -t commands command names
    return
  fi
  case $words[2] in
${groups.map(groupCase).join('\n')}
  esac
  case "$words[2] $words[3]" in
${commands.map(knownCommand).map(commandCase).join('\n')}
  esac
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _tidemark_admin "$@"; else compdef _tidemark_admin ${PROGRAM}; fi`;
}

function described({ word, summary }: { word: string; summary: string }): string {
  return quoted(`${word}:${summary.replaceAll(':', '\\:')}`);
}

function groupCase({ word, seconds }: ReturnType<typeof firstWords>[number]): string {
  return `    ${word})
      if (( CURRENT == 3 )); then
        names=(${seconds.map(described).join(' ')})
        _describe -t commands '${word} command' names
        return
      fi ;;`;
}

/** The words of the command are taken away, so that its options stand behind one word, as `_arguments` wants it. */
function commandCase({ name, options, argument }: KnownCommand): string {
  const count = name.split(' ').length;
  const pattern = count === 1 ? `'${name} '*` : `'${name}'`;
  const specs = options.map(optionSpec);
  if (argument !== undefined) specs.push(quoted(`1:${message(argument.value)}:${action(argument.expected)}`));
  return `    ${pattern})
      words[2,${count + 1}]=(); (( CURRENT -= ${count} ))
      _arguments ${specs.join(' ')} ;;`;
}

function optionSpec({ name, description, value = '', expected }: KnownOption): string {
  const explained = `${name}[${description.replaceAll(/[[\]\\]/g, String.raw`\$&`)}]`;
  return quoted(expected === undefined ? explained : `${explained}:${message(value)}:${action(expected)}`);
}

function action(expected: Expected): string {
  if (typeof expected === 'object') return `(${expected.choices.join(' ')})`;
  return { file: '_files', 'file behind @': '_tidemark_admin_at', anything: ' ' }[expected];
}

function message(value: string): string {
  return value.replaceAll(':', '\\:');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
