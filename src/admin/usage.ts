import { COMMON_OPTIONS, type Command, type Option } from './command.js';

const CALL = 'npm run -s admin --';

/** One line: how a command is called. */
export function usageOf(command: Command): string {
  const options = Object.entries(command.options).map(([name, option]) => {
    const word = wordOf(name, option);
    return option.required === true ? word : `[${word}]`;
  });
  return [CALL, command.name, ...options, command.argument ?? ''].join(' ').trim();
}

/** The help of one command. */
export function helpOf(command: Command): string {
  const options = Object.entries<Option>({ ...command.options, ...COMMON_OPTIONS });
  return [
    `${command.summary}.`,
    '',
    `Usage: ${usageOf(command)}`,
    '',
    ...aligned(options.map(([name, option]) => [wordOf(name, option), option.description])),
    ...(command.notes === undefined ? [] : ['', ...command.notes]),
  ].join('\n');
}

/** The help of them all. */
export function helpOfAll(commands: readonly Command[]): string {
  return [
    `Usage: ${CALL} COMMAND [OPTIONS]`,
    '',
    ...aligned(commands.map(({ name, summary }) => [name, summary])),
    '',
    'The settings are those of the service: MONGODB_URI, or the embedded database that runs on DATA_DIR.',
    `COMMAND --help tells more about one. Every command takes --json. Exit code: 0, or 1 with one line on stderr.`,
  ].join('\n');
}

function wordOf(name: string, option: Option): string {
  return option.value === undefined ? `--${name}` : `--${name} ${option.value}`;
}

function aligned(rows: [string, string][]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}
