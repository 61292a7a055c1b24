import { COMMON_OPTIONS, type Command, type Option } from './command.js';
import { inLines, type Layout, padTo, type Wording, toned, widthOf, wrapped } from './layout.js';

const CALL = 'npm run -s admin --';
const USAGE = 'Usage:';
const INDENT = '  ';
/** The longest readable line, for output without a narrower limit. */
const LONGEST_LINE = 110;
/** The least width of a description beside its option. With less room, it starts on a line of its own. */
const LEAST_BESIDE = 24;

const ABOUT_ALL = [
  'The settings are those of the service: MONGODB_URI, or the embedded database that runs on DATA_DIR.',
  'COMMAND --help tells more about one. Every command takes --json. Exit code: 0, or 1 with one line on stderr.',
];

/** The command line that calls a command. */
export function callOf(name: string): string {
  return `${CALL} ${name}`;
}

/** The usage of a command, in one line. */
export function usageOf(command: Pick<Command, 'name' | 'options' | 'argument'>): string {
  return usageWords(command).join(' ');
}

/** The words of a usage. An option and its value are one word. */
function usageWords({ name, options, argument }: Pick<Command, 'name' | 'options' | 'argument'>): string[] {
  const words = Object.entries(options).map(([option, spec]) => {
    const word = wordOf(option, spec);
    return spec.required === true ? word : `[${word}]`;
  });
  return [callOf(name), ...words, ...(argument === undefined ? [] : [argument])];
}

/** The help of one command, or of several. */
export function helpOf(help: Command | readonly Command[]): Wording {
  return ({ columns, colours }) => {
    const layout = { columns: Math.min(columns, LONGEST_LINE), colours };
    return ('name' in help ? helpOfOne(help, layout) : helpOfSome(help, layout)).join('\n');
  };
}

/** The help as JSON: each command with its options. */
export function helpJson(help: Command | readonly Command[]): unknown {
  const commands = 'name' in help ? [help] : help;
  return { commands: commands.map(commandJson) };
}

function commandJson(command: Command): unknown {
  const { name, summary, argument = null, notes = [] } = command;
  const options = Object.entries<Option>({ ...command.options, ...COMMON_OPTIONS });
  return {
    ...{ name, summary, usage: usageOf(command), argument },
    options: options.map(([option, { value = null, required = false, description }]) => ({
      ...{ name: `--${option}`, value, required, description },
    })),
    notes,
  };
}

function helpOfOne(command: Command, layout: Layout): string[] {
  const options = Object.entries<Option>({ ...command.options, ...COMMON_OPTIONS });
  const { columns } = layout;
  return [
    ...wrapped(`${command.summary}.`, columns),
    '',
    ...usageLines(usageWords(command), layout),
    '',
    ...aligned(
      options.map(([name, option]) => [wordOf(name, option), option.description]),
      layout,
    ),
    ...(command.notes === undefined ? [] : ['', ...noteLines(command.notes, columns)]),
  ];
}

function helpOfSome(commands: readonly Command[], layout: Layout): string[] {
  return [
    ...usageLines([callOf('COMMAND [OPTIONS]')], layout),
    '',
    ...aligned(
      commands.map(({ name, summary }) => [name, summary]),
      layout,
    ),
    '',
    ...ABOUT_ALL.flatMap((line) => wrapped(line, layout.columns)),
  ];
}

function usageLines([call = '', ...words]: string[], layout: Layout): string[] {
  const [first = '', ...others] = inLines([`${USAGE} ${call}`, ...words], layout.columns, USAGE.length + 1);
  return [toned(USAGE, 'bold', layout) + first.slice(USAGE.length), ...others];
}

/** Each note starts a new line. A note that begins with blanks is an example, and is not wrapped. */
function noteLines(notes: string[], columns: number): string[] {
  return notes.flatMap((note) => (note.startsWith(' ') ? [note] : wrapped(note, columns)));
}

function wordOf(name: string, option: Option): string {
  return option.value === undefined ? `--${name}` : `--${name} ${option.value}`;
}

function aligned(rows: [string, string][], layout: Layout): string[] {
  const width = Math.max(...rows.map(([left]) => widthOf(left)));
  const beside = layout.columns - width - 2 * INDENT.length;
  return rows.flatMap(([left, right]) => {
    const name = toned(left, 'bold', layout);
    if (beside < LEAST_BESIDE) {
      const below = wrapped(right, layout.columns - 3 * INDENT.length);
      return [INDENT + name, ...below.map((line) => INDENT.repeat(3) + line)];
    }
    const [first = '', ...others] = wrapped(right, beside);
    const blanks = padTo(width, left).slice(left.length);
    return [
      INDENT + name + blanks + INDENT + first,
      ...others.map((line) => ' '.repeat(width + 2 * INDENT.length) + line),
    ];
  });
}
