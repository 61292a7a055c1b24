import { runCommandLine } from './administration/cli/index.js';
import { hasColours } from './platform/config/pure.js';

const { stdin: input, stdout: output, stderr: errors } = process;

function interruptible(): AbortSignal {
  const controller = new AbortController();
  process.once('SIGINT', () => controller.abort());
  return controller.signal;
}

/**
 * Loaded only for commands that read the settings, because the connection string is checked with the MongoDB driver.
 */
const settings = async () => (await import('./platform/config/plain.js')).settingsOfProcess;

const ended = runCommandLine(process.argv.slice(2), settings, {
  ...{ input, output, errors, interruptible },
  colours: { output: hasColours(output), errors: hasColours(errors) },
});
// No top-level `await`: in a bundle, a chunk that is loaded later may import this entry and then wait for it to
// finish.
void ended.then((code) => (process.exitCode = code));
