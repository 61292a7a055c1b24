import type { Terminal } from './administration/cli/index.js';
import { invocationOfProcess, hasColours } from './platform/config/pure.js';

const { stdin: input, stdout: output, stderr: errors } = process;

/** The terminal of this process, for the commands of operators. */
export function terminalOfProcess(): Terminal {
  return {
    ...{ input, output, errors, interruptible },
    colours: { output: hasColours(output), errors: hasColours(errors) },
    invocation: invocationOfProcess(),
  };
}

function interruptible(): AbortSignal {
  const controller = new AbortController();
  process.once('SIGINT', () => controller.abort());
  return controller.signal;
}

/**
 * Loads the settings only when a command reads them, because their check of the connection string needs the MongoDB
 * driver.
 */
export const loadSettings = async () => (await import('./platform/config/plain.js')).settingsOfProcess;
