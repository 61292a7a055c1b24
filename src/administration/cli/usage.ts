import { type Invocation, IN_CLONE } from '../../platform/config/pure.js';
import { COMMON_OPTIONS, type Command, type Option } from './command.js';
import { inLines, type Layout, padTo, type Wording, toned, widthOf, wrapped } from './layout.js';

const USAGE = 'Usage:';
const INDENT = '  ';
/** Help is wrapped at this width even if the output is wider, because longer lines are hard to read. */
const LONGEST_LINE = 110;
/** The least width of a description beside its option. With less room, it starts on a line of its own. */
const LEAST_BESIDE = 24;

const ABOUT_ALL = [
  'The settings are those of the service: MONGODB_URI, or the embedded database that runs on DATA_DIR.',
  'COMMAND --help explains one command. Every command accepts --json.',
];
const EXIT_CODES = {
  1: 'Exit code: 0, or 1 with one line on stderr.',
  2: 'Exit code: 0, or 1 with one line on stderr; 2 for a mistake in the command line.',
};

/** The usage of a command, in one line. */
export function usageOf(command: Used, admin: string): string {
  return usageWords(command, admin).join(' ');
}

type Used = Pick<Command, 'name' | 'options' | 'argument'>;

/** The words of a usage. An option and its value are one word. */
function usageWords({ name, options, argument }: Used, admin: string): string[] {
  const words = Object.entries(options).map(([option, spec]) => {
    const word = wordOf(option, spec);
    return spec.required === true ? word : `[${word}]`;
  });
  return [`${admin} ${name}`, ...words, ...(argument === undefined ? [] : [argument])];
}

/** The help of one command, or of several. */
export function helpOf(help: Command | readonly Command[], invocation = IN_CLONE): Wording {
  return ({ columns, colours }) => {
    const layout = { columns: Math.min(columns, LONGEST_LINE), colours };
    return ('name' in help ? helpOfOne(help, invocation, layout) : helpOfSome(help, invocation, layout)).join(
      '\n',
    );
  };
}

/** The help as JSON: each command with its options. */
export function helpJson(help: Command | readonly Command[], { admin } = IN_CLONE): unknown {
  const commands = 'name' in help ? [help] : help;
  return { commands: commands.map((command) => commandJson(command, admin)) };
}

function commandJson(command: Command, admin: string): unknown {
  const { name, summary, argument = null, notes = [] } = command;
  const options = Object.entries<Option>({ ...command.options, ...COMMON_OPTIONS });
  return {
    ...{ name, summary, usage: usageOf(command, admin), argument },
    options: options.map(([option, { value = null, required = false, description }]) => ({
      ...{ name: `--${option}`, value, required, description },
    })),
    notes: notesOf({ notes }, admin),
  };
}

function helpOfOne(command: Command, { admin }: Invocation, layout: Layout): string[] {
  const options = Object.entries<Option>({ ...command.options, ...COMMON_OPTIONS });
  const { columns } = layout;
  return [
    ...wrapped(`${command.summary}.`, columns),
    '',
    ...usageLines(usageWords(command, admin), layout),
    '',
    ...aligned(
      options.map(([name, option]) => [wordOf(name, option), option.description]),
      layout,
    ),
    ...(command.notes === undefined ? [] : ['', ...noteLines(notesOf(command, admin), columns)]),
  ];
}

function helpOfSome(commands: readonly Command[], { admin, mistake }: Invocation, layout: Layout): string[] {
  return [
    ...usageLines([`${admin} COMMAND [OPTIONS]`], layout),
    '',
    ...aligned(
      commands.map(({ name, summary }) => [name, summary]),
      layout,
    ),
    '',
    ...[...ABOUT_ALL, EXIT_CODES[mistake]].flatMap((line) => wrapped(line, layout.columns)),
  ];
}

function usageLines([call = '', ...words]: string[], layout: Layout): string[] {
  const [first = '', ...others] = inLines([`${USAGE} ${call}`, ...words], layout.columns, USAGE.length + 1);
  return [toned(USAGE, 'bold', layout) + first.slice(USAGE.length), ...others];
}

function notesOf({ notes = [] }: Pick<Command, 'notes'>, admin: string): string[] {
  return notes.map((note) => (typeof note === 'string' ? note : note(admin)));
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
