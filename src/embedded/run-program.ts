import { execFile } from 'node:child_process';
import { parentPid, startedByNpm } from '../platform/config/plain.js';

const SECONDS_BETWEEN = 5;

/** Runs a program and returns its stdout. Throws the one line that explains a failure. */
export function runProgram(
  program: string,
  args: string[],
  timeoutSeconds: number,
  env?: Record<string, string | undefined>,
): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, args, { timeout: timeoutSeconds * 1000, env }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(failure(program, error, stderr, timeoutSeconds)));
    });
  });
}

/** Prints one line for the person at the terminal. */
export type Say = (line: string) => void;

/** Announces the work, and reports the elapsed time every 5 seconds until the work ends. */
export async function withProgress<T>(say: Say, what: string, work: Promise<T>): Promise<T> {
  say(`${what} …`);
  const began = Date.now();
  const timer = setInterval(
    () => say(`${what} … ${Math.round((Date.now() - began) / 1000)} s`),
    SECONDS_BETWEEN * 1000,
  );
  return work.finally(() => clearInterval(timer));
}

/** The reason for a failure, on one line. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text
    .split(/\s*\n\s*/)
    .join(' ')
    .trim();
}

type ExecError = Error & { code?: string | number | null; killed?: boolean };

function failure(program: string, error: ExecError, stderr: string, timeoutSeconds: number): string {
  if (error.code === 'ENOENT') return `there is no ${program}`;
  if (error.code === 'EACCES') return `${program} cannot be executed: permission denied`;
  if (error.killed === true) return `${program} did not end within ${timeoutSeconds} s`;
  const lastLine = stderr.trim().split('\n').at(-1) ?? '';
  return lastLine === '' ? `${program} ended with code ${error.code}` : lastLine;
}

const POLL_MS = 500;

/**
 * Calls back once when npm, which started this process, has ended without forwarding a signal (it was killed, or its
 * terminal closed). Has no effect if npm is not the parent. Returns a function that ends the check.
 */
export function onOrphaned(callback: () => void): () => void {
  if (!startedByNpm()) return () => undefined;
  const parent = parentPid();
  const timer = setInterval(() => {
    if (parentPid() === parent) return;
    clearInterval(timer);
    callback();
  }, POLL_MS);
  timer.unref();
  return () => clearInterval(timer);
}
