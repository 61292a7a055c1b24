import { shown, FatalError } from '../../common/index.js';
import type { Command, Run } from '../command.js';
import { bashCompletion } from '../completion/bash.js';
import { PROGRAM, SHELLS } from '../completion/program.js';
import { zshCompletion } from '../completion/zsh.js';
import type { completion } from '../descriptions/operation.js';
import { asIs } from '../layout.js';

const SCRIPTS = { bash: bashCompletion, zsh: zshCompletion };

/** Prints a completion of all these commands. */
export function completionOf(commands: readonly Command[]): Run<typeof completion> {
  return (_context, _values, argument) => {
    const shell = SHELLS.find((one) => one === argument);
    if (shell === undefined) {
      throw new FatalError(`There is no completion for "${shown(argument)}". Choose ${SHELLS.join(' or ')}.`);
    }
    const script = SCRIPTS[shell](commands);
    return Promise.resolve({ text: asIs(script), json: { shell, program: PROGRAM, script } });
  };
}
