import { UsageError, shown } from '../../platform/common/index.js';
import { type Command, COMMON_OPTIONS, type Option } from './command.js';
import { asIs } from './layout.js';

/** The name under which the package installs the commands. */
export const PROGRAM = 'tidemark-admin';
/** The program that contains these commands under its subcommand `admin`. */
const WHOLE = 'tidemark';
/** The subcommands and options of `tidemark`. */
const WORDS = ['serve', 'admin', 'check', 'help', '--version', '--help'];

/** The shells for which a completion exists. */
export const SHELLS = ['bash', 'zsh'] as const;

const SCRIPTS = { bash: bashCompletion, zsh: zshCompletion };

/** The `run` of the command that prints a shell completion for these commands. */
export function completionOf(commands: readonly Command[]): Command['run'] {
  return (_context, _values, argument) => {
    const shell = SHELLS.find((one) => one === argument);
    if (shell === undefined) {
      throw new UsageError(`There is no completion for "${shown(argument)}". Choose ${SHELLS.join(' or ')}.`);
    }
    const script = SCRIPTS[shell](commands);
    return Promise.resolve({ text: asIs(script), json: { shell, program: PROGRAM, script } });
  };
}

/**
 * A script for bash 3.2 or later. By default, bash also splits words at `=` and `@`, so each of these characters is a
 * separate entry of COMP_WORDS. The second argument of `_tidemark_admin` is the text that the completion replaces,
 * including an `@` before it.
 */
function bashCompletion(commands: readonly Command[]): string {
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
${commands.map(knownCommand).map(bashCase).join('\n')}
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
complete -F _tidemark_admin ${PROGRAM}
_tidemark() {
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W '${WORDS.join(' ')}' -- "$2"))
  elif [[ \${COMP_WORDS[1]} == admin ]]; then
    COMP_WORDS=("\${COMP_WORDS[@]:1}")
    COMP_CWORD=$((COMP_CWORD - 1))
    _tidemark_admin "$@"
  fi
}
complete -F _tidemark ${WHOLE}`;
}

/** The cases of an incomplete command name: no word yet, and each group; each case with the words that may follow. */
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

function bashCase({ name, options, argument }: KnownCommand): string {
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
  return `expected=${{ file: 'file', 'file after @': 'at', anything: 'anything' }[expected]}`;
}

/** A script for zsh, to be sourced or put into the `fpath`. */
function zshCompletion(commands: readonly Command[]): string {
  const firsts = firstWords(commands);
  const groups = firsts.filter(({ seconds }) => seconds.length > 0);
  const all = [{ word: 'help', summary: 'Show help' }, ...firsts];
  return `#compdef ${PROGRAM} ${WHOLE}
# Completion of ${PROGRAM} for zsh:  source <(${PROGRAM} completion zsh)
_tidemark_admin_at() {
  if compset -P @; then _files; else compadd -S '' -- @; fi
}
_tidemark_admin() {
  local -a names
  [[ $words[2] == help ]] && (( CURRENT > 2 )) && { words[2]=(); (( CURRENT -= 1 )); }
  if (( CURRENT == 2 )); then
    names=(${all.map(labelled).join(' ')})
    _describe -t commands command names
    return
  fi
  case $words[2] in
${groups.map(groupCase).join('\n')}
  esac
  case "$words[2] $words[3]" in
${commands.map(knownCommand).map(zshCase).join('\n')}
  esac
}
_tidemark() {
  if (( CURRENT == 2 )); then
    compadd -- ${WORDS.join(' ')}
  elif [[ $words[2] == admin ]]; then
    shift words
    (( CURRENT -= 1 ))
    _tidemark_admin "$@"
  fi
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  if [[ $service == ${WHOLE} ]]; then _tidemark "$@"; else _tidemark_admin "$@"; fi
else
  compdef _tidemark_admin ${PROGRAM}
  compdef _tidemark ${WHOLE}
fi`;
}

function labelled({ word, summary }: { word: string; summary: string }): string {
  return quoted(`${word}:${summary.replaceAll(':', '\\:')}`);
}

function groupCase({ word, seconds }: ReturnType<typeof firstWords>[number]): string {
  return `    ${word})
      if (( CURRENT == 3 )); then
        names=(${seconds.map(labelled).join(' ')})
        _describe -t commands '${word} command' names
        return
      fi ;;`;
}

/**
 * The case of one command. It removes the name of the command from `words`, because `_arguments` expects the options
 * directly after the program.
 */
function zshCase({ name, options, argument }: KnownCommand): string {
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
  return { file: '_files', 'file after @': '_tidemark_admin_at', anything: ' ' }[expected];
}

function message(value: string): string {
  return value.replaceAll(':', '\\:');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** What a place in a command line accepts: one of several words, a file, a file after an `@`, or anything. */
type Expected = { choices: string[] } | 'file' | 'file after @' | 'anything';

/** An option for a completion; without `expected`, it is a flag. */
interface KnownOption {
  /** With its hyphens. */
  name: string;
  description: string;
  /** The name of its value in the help, such as `member|product`. */
  value?: string;
  expected?: Expected;
}

interface KnownCommand {
  name: string;
  summary: string;
  options: KnownOption[];
  /** The positional argument, by its name in the help. */
  argument?: { value: string; expected: Expected };
}

/** The first word of one or more commands: the name of a command, or of a group. */
interface FirstWord {
  word: string;
  summary: string;
  seconds: { word: string; summary: string }[];
}

function knownCommand({ name, summary, options, argument }: Command): KnownCommand {
  return {
    ...{ name, summary },
    options: Object.entries<Option>({ ...options, ...COMMON_OPTIONS }).map(knownOption),
    ...(argument !== undefined && { argument: { value: argument, expected: expectedFrom(argument) } }),
  };
}

function firstWords(commands: readonly Command[]): FirstWord[] {
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

/**
 * Derives the accepted values from the name of the value in the help: `member|product|...` lists words and may be
 * incomplete; `@FILE` and `FILE` are files.
 */
function expectedFrom(value: string): Expected {
  const parts = value.split('|').filter((part) => part !== '...');
  if (parts.length > 1 && parts.every((part) => /^[a-z][a-z-]*$/.test(part))) return { choices: parts };
  if (parts.includes('@FILE')) return 'file after @';
  return parts.some((part) => /^FILE\b/.test(part)) ? 'file' : 'anything';
}

function knownOption([name, { description, value }]: [string, Option]): KnownOption {
  return {
    ...{ name: `--${name}`, description },
    ...(value !== undefined && { value, expected: expectedFrom(value) }),
  };
}
