import { runCommandLine } from './administration/cli/index.js';
import { loadSettings, terminalOfProcess } from './terminal.js';

const ended = runCommandLine(process.argv.slice(2), loadSettings, terminalOfProcess());
// No top-level `await`: in a bundle, a chunk that is loaded later may import this entry and then wait for it to
// finish.
void ended.then((code) => (process.exitCode = code));
