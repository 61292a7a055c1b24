import type { Command } from '../command.js';
import { type Expected, firstWords, type KnownCommand, knownCommand } from './expected.js';
import { PROGRAM } from './program.js';

/**
 * A script for bash, from 3.2 on, that completes the words of a command line. Bash breaks them at `=` and `@` too, unless
 * it is told not to; the second argument of the function is what will be replaced, an `@` before it included.
 */
export function bashCompletion(commands: readonly Command[]): string {
  return `# Completion of ${PROGRAM} for bash:  source <(${PROGRAM} completion bash)
_tidemark_admin() {
  local cur=\${2-\${COMP_WORDS[COMP_CWORD]}} i=$((COMP_CWORD - 1)) at= command= word expected= words= file=
  COMPREPLY=()
  [[ $cur == @* ]] && at=@ cur=\${cur#@}
  while [[ \${COMP_WORDS[i]} == [=@] || \${COMP_WORDS[i]} == =@ ]]; do i=$((i - 1)); done
  local prev=\${COMP_WORDS[i]} given=" \${COMP_WORDS[*]:0:COMP_CWORD} "
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] && break
    [[ $word == help ]] || command+=\${command:+ }$word
  done
  case $command in
${firstCases(commands)}
${commands.map(knownCommand).map(commandCase).join('\n')}
  esac
  [[ $expected == file && $cur != -* ]] && file=1
  [[ $expected == at ]] && { [[ $at ]] && file=1 || words=@; }
  if [[ $file ]]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r word; do
      [[ $at && -d $word ]] && word+=/ && compopt -o nospace 2>/dev/null
      COMPREPLY+=("$at$word")
    done < <(compgen -f -- "$cur")
    return
  fi
  for word in $words; do
    [[ $word == --* && $given == *" $word "* ]] && continue
    [[ $word == "$cur"* ]] && COMPREPLY+=("$word")
  done
  [[ \${COMPREPLY[*]} == @ ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -F _tidemark_admin ${PROGRAM}`;
}

/** Names of commands and of groups, and what may stand behind each. */
function firstCases(commands: readonly Command[]): string {
  const firsts = firstWords(commands);
  const all = ['help', ...firsts.map(({ word }) => word)].join(' ');
  const groups = firsts.filter(({ seconds }) => seconds.length > 0);
  return [
    `    '') words='${all}' ;;`,
    ...groups.map(
      ({ word, seconds }) => `    ${word}) words='${seconds.map((one) => one.word).join(' ')}' ;;`,
    ),
  ].join('\n');
}

function commandCase({ name, options, argument }: KnownCommand): string {
  const values = options.flatMap((option) =>
    option.expected === undefined ? [] : [`        ${option.name}) ${assigned(option.expected)} ;;`],
  );
  const names = options.map((option) => option.name).join(' ');
  return `    '${name}' | '${name} '*)
      case $prev in
${values.join('\n')}
        *) words='${names}'${argument === undefined ? '' : ` ${assigned(argument.expected)}`} ;;
      esac ;;`;
}

function assigned(expected: Expected): string {
  if (typeof expected === 'object') return `words="\${words:+$words }${expected.choices.join(' ')}"`;
  return `expected=${{ file: 'file', 'file behind @': 'at', anything: 'anything' }[expected]}`;
}
