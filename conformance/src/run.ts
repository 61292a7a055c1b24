import { text } from 'node:stream/consumers';
import { HELP, parseCommand, type TypedCommand, WrongCommandError } from './command-line.js';
import { judge, type JudgeOptions } from './judge.js';
import { jsonOf, lastLineOf, linesOf } from './report.js';
import { VERSION } from './version.js';
import { visible, visibleJson } from './visible.js';

/** What a command has to do with: its words, its streams and its environment. */
export interface CommandSurroundings {
  words: string[];
  input: AsyncIterable<Uint8Array | string>;
  print: (line: string) => void;
  complain: (line: string) => void;
  hasColours: boolean;
  environment: Record<string, string | undefined>;
}

const EXIT_CODE = { holds: 0, broken: 1, 'cut off': 2 };
const NOT_JUDGED = 2;

/**
 * Runs the command; its exit code: 0 everything holds, 1 something is broken, 2 it could not be judged. Never throws: Node.js
 * would exit with 1.
 */
export async function runConformance(surroundings: CommandSurroundings): Promise<number> {
  const { words, print, complain } = surroundings;
  try {
    const command = parseCommand(words);
    if (command.help || command.version) {
      print(command.help ? HELP : VERSION);
      return 0;
    }
    return await judged(command, surroundings);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (words.includes('--json')) print(visibleJson({ verdict: 'not judged', error: message }));
    else complain(visible(message));
    return NOT_JUDGED;
  }
}

async function judged(command: TypedCommand, surroundings: CommandSurroundings): Promise<number> {
  const { print, hasColours } = surroundings;
  const options: JudgeOptions = { ...command.options, login: await loginOf(command, surroundings) };
  const judgement = await judge(options, (check) => {
    if (!command.json) linesOf(check, hasColours).forEach(print);
  });
  print(command.json ? jsonOf(options.target, judgement) : lastLineOf(judgement));
  return EXIT_CODE[judgement.verdict];
}

async function loginOf(
  { username: typed, asksPassword }: TypedCommand,
  { environment, input }: CommandSurroundings,
): Promise<JudgeOptions['login']> {
  const username = typed ?? environment['TIDEMARK_USERNAME'];
  const given = asksPassword ? (await text(input)).split(/\r?\n/)[0] : environment['TIDEMARK_PASSWORD'];
  if (username === undefined || given === undefined)
    throw new WrongCommandError(
      'Credentials are needed: set TIDEMARK_USERNAME and TIDEMARK_PASSWORD, or send --username and --password-stdin.',
    );
  return { username, password: given };
}
