import { runProgram } from './administration/cli/index.js';
import { loadSettings, terminalOfProcess } from './terminal.js';

/** Loading the service starts it. Nothing else of this program loads it. */
const serve = () => import('./main.entry.js');

// No top-level `await`: in a bundle, a chunk that is loaded later may import this entry and then wait for it to
// finish.
void runProgram(process.argv.slice(2), { serve, loadSettings, terminal: terminalOfProcess() }).then(
  (code) => (process.exitCode ??= code),
);
