import { runCommandLine } from './admin/index.js';
import { hasColours } from './config/pure.js';

const { stdin: input, stdout: output, stderr: errors } = process;

function interruptible(): AbortSignal {
  const controller = new AbortController();
  process.once('SIGINT', () => controller.abort());
  return controller.signal;
}

/** The driver checks the connection string, so what reads the settings is loaded for a command only. */
const settings = async () => (await import('./config/plain.js')).settingsOfProcess;

const ended = runCommandLine(process.argv.slice(2), settings, {
  ...{ input, output, errors, interruptible },
  colours: { output: hasColours(output), errors: hasColours(errors) },
});
// Where an entry is bundled, what it loads later may import it, and waits until its own statements have ended.
void ended.then((code) => (process.exitCode = code));
