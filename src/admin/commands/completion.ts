import { FatalError, shown } from '../../common/index.js';
import { type Command, defineCommand } from '../command.js';
import { bashCompletion } from '../completion/bash.js';
import { PROGRAM } from '../completion/program.js';
import { zshCompletion } from '../completion/zsh.js';
import { asIs } from '../layout.js';

const SCRIPTS = new Map([
  ['bash', bashCompletion],
  ['zsh', zshCompletion],
]);
const SHELLS = [...SCRIPTS.keys()];

/** The command that prints a completion of all commands, itself among them. */
export function completionOf(commands: () => readonly Command[]): Command {
  return defineCommand({
    name: 'completion',
    summary: 'Print a script that completes command lines in bash or zsh',
    argument: SHELLS.join('|'),
    options: {},
    notes: [
      `It completes the program ${PROGRAM}, which is dist/cli.js under the name that the package gives it: make an alias, or have npm link it.`,
      `  alias ${PROGRAM}='npm run -s admin --'`,
      `  source <(${PROGRAM} completion bash)`,
      'In zsh, run compinit before. Another name is completed too, after: complete -F _tidemark_admin NAME (bash), compdef _tidemark_admin NAME (zsh).',
    ],
    run(_context, _values, shell) {
      const make = SCRIPTS.get(shell);
      if (make === undefined) {
        throw new FatalError(`There is no completion for "${shown(shell)}". Choose ${SHELLS.join(' or ')}.`);
      }
      const script = make(commands());
      return Promise.resolve({ text: asIs(script), json: { shell, program: PROGRAM, script } });
    },
  });
}
