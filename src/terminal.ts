import type { Terminal } from './administration/cli/index.js';
import { invocationOfProcess, hasColours } from './platform/config/pure.js';

const { stdin: input, stdout: output, stderr: errors } = process;

let outputError: Error | undefined;

/** The terminal of this process, for the commands of operators. */
export function terminalOfProcess(): Terminal {
  // Without a listener, a write to a closed terminal or pipe, or to a full disk, would end the process with a stack.
  output.on('error', (error: Error) => void (outputError ??= error));
  errors.on('error', () => undefined);
  return {
    ...{ input, output, errors, written, interruptible },
    colours: { output: hasColours(output), errors: hasColours(errors) },
    invocation: invocationOfProcess(),
  };
}

function written(): Promise<Error | undefined> {
  return new Promise((resolve) => output.write('', (error) => resolve(outputError ?? error ?? undefined)));
}

/** A signal that arrives this soon after the first one belongs to it: npm passes on what the terminal has sent already. */
const ONE_PRESS_MS = 1000;

function interruptible(): AbortSignal {
  const controller = new AbortController();
  let begun: number | undefined;
  const interrupt = (signal: NodeJS.Signals) => {
    if (begun !== undefined && performance.now() - begun > ONE_PRESS_MS) {
      process.removeListener(signal, interrupt);
      process.kill(process.pid, signal);
    }
    begun ??= performance.now();
    controller.abort();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt);
  return controller.signal;
}

/**
 * Loads the settings only when a command reads them, because their check of the connection string needs the MongoDB
 * driver.
 */
export const loadSettings = async () => (await import('./platform/config/plain.js')).settingsOfProcess;
