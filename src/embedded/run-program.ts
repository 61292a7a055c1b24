import { execFile } from 'node:child_process';

/** What a program printed to stdout before it ended well. Fails with the one line that says why it did not. */
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

type ExecError = Error & { code?: string | number | null; killed?: boolean };

function failure(program: string, error: ExecError, stderr: string, timeoutSeconds: number): string {
  if (error.code === 'ENOENT') return `there is no ${program}`;
  if (error.code === 'EACCES') return `${program} may not be executed`;
  if (error.killed === true) return `${program} did not end within ${timeoutSeconds} s`;
  const lastLine = stderr.trim().split('\n').at(-1) ?? '';
  return lastLine === '' ? `${program} ended with code ${error.code}` : lastLine;
}
