import { fileTrouble, visible, visibleJson } from '../../platform/common/index.js';
import type { Screen, Terminal } from './command.js';
import { laidOut, type Layout, toned, type Wording } from './layout.js';

/** Writes the results and errors of a command to stdout and stderr, for people or for machines. */
export class Output {
  constructor(
    private readonly terminal: Terminal,
    readonly isForMachines: boolean,
  ) {}

  say(text: Wording, json: unknown): void {
    const { output, colours } = this.terminal;
    const said = this.isForMachines
      ? visibleJson(JSON.stringify(json))
      : laidOut(text, layoutOn(output, colours?.output));
    output.write(`${said}\n`);
  }

  /**
   * Returns the exit code, or 1 if the result of a success cannot be written. Writes one line to stderr about the failure
   * and about a result that cannot be written.
   */
  async ended<C extends number>(code: C, failure?: string): Promise<C | 1> {
    const error = await this.terminal.written?.();
    const unwritten = error && `The result cannot be written to stdout: ${fileTrouble(error)}.`;
    const sentences = [unwritten, failure].filter((one) => one !== undefined);
    if (sentences.length > 0) this.complain(sentences.join(' '));
    return failure === undefined && unwritten !== undefined ? 1 : code;
  }

  /** Writes a notice to stderr; for machines only if stderr is a terminal. */
  print(text: Wording): void {
    const { errors, colours } = this.terminal;
    if (this.isForMachines && errors.isTTY !== true) return;
    errors.write(`${laidOut(text, layoutOn(errors, colours?.errors))}\n`);
  }

  /** Writes an error in one line; for machines, as a JSON document. */
  complain(sentence: string): void {
    const { errors, colours } = this.terminal;
    const line = this.isForMachines
      ? errorJson({ error: sentence })
      : toned(visible(sentence), 'red', layoutOn(errors, colours?.errors));
    errors.write(`${line}\n`);
  }

  /** The message for an invalid line of the input. */
  badLine(line: number, reason: string): string {
    return this.isForMachines ? errorJson({ line, error: reason }) : visible(`line ${line}: ${reason}`);
  }
}

function layoutOn({ isTTY, columns }: Screen, colours = false): Layout {
  return { columns: (isTTY === true && columns) || Infinity, colours };
}

function errorJson(error: { line?: number; error: string }): string {
  return visibleJson(JSON.stringify(error));
}
