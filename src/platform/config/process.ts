import { homedir } from 'node:os';
import { delimiter, isAbsolute, join, basename, dirname, relative, sep } from 'node:path';
import { WriteStream } from 'node:tty';

/** The cache directory for downloads: `tidemark` in `$XDG_CACHE_HOME`, else in `~/.cache`. */
export function cacheDir(): string {
  const base = process.env.XDG_CACHE_HOME ?? '';
  return join(isAbsolute(base) ? base : join(homedir(), '.cache'), 'tidemark');
}

/** The directories of `PATH` that have absolute paths, in order. */
export function searchPath(): string[] {
  return (process.env.PATH ?? '').split(delimiter).filter((directory) => isAbsolute(directory));
}

/** Whether the environment names a proxy for HTTP or HTTPS. If so, a failed direct connection is not conclusive. */
export function behindProxy(): boolean {
  const names = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY', 'npm_config_proxy'];
  return names.some((name) => (process.env[name] ?? '') !== '');
}

/** The environment of this process, for a program that finds its shared libraries in these directories first. */
export function environmentWithLibraries(directories: string[]): Record<string, string | undefined> {
  const searched = [...directories, process.env.LD_LIBRARY_PATH ?? ''].filter(
    (directory) => directory !== '',
  );
  return searched.length === 0 ? process.env : { ...process.env, LD_LIBRARY_PATH: searched.join(delimiter) };
}

/** The process id of this service. */
export const ownPid = (): number => process.pid;

/** The current process id of the parent: it changes when the parent dies. */
export const parentPid = (): number => process.ppid;

/** The number of files and connections that the process may open; undefined if the system does not report it. */
export function descriptorLimit(): number | undefined {
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft: unknown } } };
  const soft = userLimits?.open_files?.soft;
  if (soft === 'unlimited') return Infinity;
  return typeof soft === 'number' ? soft : undefined;
}

/** Whether this process or one of its ancestors was started by npm, or by a tool that sets the same variable. */
export const startedByNpm = (): boolean => process.env.npm_lifecycle_event !== undefined;

/** Whether a process with this id exists, under any user. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Whether output to a stream may be colored: on a terminal with color support, unless `NO_COLOR` is set.
 * `FORCE_COLOR` enables colors on any stream, or disables them if it is `0`.
 */
export function hasColours(
  { isTTY }: { isTTY?: boolean | undefined },
  environment: Record<string, string | undefined> = process.env,
): boolean {
  const { NO_COLOR = '', ...others } = environment;
  const isWanted = others['FORCE_COLOR'] !== undefined || (isTTY === true && NO_COLOR === '');
  return isWanted && WriteStream.prototype.getColorDepth(others) > 1;
}

/**
 * Exit code of a service whose settings are wrong (`EX_CONFIG` of sysexits.h). It differs from that of other failures,
 * because a restart would fail in the same way.
 */
export const WRONG_SETTINGS = 78;

/** A setting is wrong. The message is one line for the operator. */
export class ConfigError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ConfigError';
  }
}

/** The command lines by which the programs of the package are called, for help texts and advice. */
export interface Invocation {
  /** Such as `npx tidemark`: starts the service. */
  serve: string;
  /** Such as `npx tidemark admin`; the name of a command follows. */
  admin: string;
  /** The exit code of a mistake in the command line. The older programs promise 1 for every error (contract §5). */
  mistake: 1 | 2;
}

/** The command lines in a clone of the repository: scripts of npm. */
export const IN_CLONE: Invocation = { serve: 'npm start', admin: 'npm run -s admin --', mistake: 1 };

/** What a process knows about its call. */
interface Process {
  /** The file that Node runs, or the link to it: `process.argv[1]`. */
  path: string;
  /** The working directory. */
  folder: string;
  environment: Record<string, string | undefined>;
}

const SCRIPTS = new Set(['admin', 'start']);
const INSTALLED = `${sep}node_modules${sep}`;

/**
 * How a process was called: by a script of npm in a clone, by npx, by the name of a program, or with `node` and the
 * path of a file.
 */
export function invocationOf({ path, folder, environment }: Process): Invocation {
  const file = basename(path);
  const isFile = file.endsWith('.js');
  const isOfAdmin = file === 'cli.js' || file === 'tidemark-admin';
  const isInstalled = !isFile || path.includes(INSTALLED);
  if (!isInstalled && SCRIPTS.has(environment['npm_lifecycle_event'] ?? '')) return IN_CLONE;
  const name = (program: string) => {
    if (!isInstalled) return `node ${inShell(nearer(join(dirname(path), program), folder))}`;
    const bin = basename(program, '.js').replace(/^cli$/, 'tidemark-admin');
    if (environment['npm_command'] === 'exec') return `npx ${bin}`;
    return isFile || isFound(path, environment) ? bin : inShell(nearer(join(dirname(path), bin), folder));
  };
  const serve = name('tidemark.js');
  return isOfAdmin
    ? { serve, admin: name('cli.js'), mistake: 1 }
    : { serve, admin: `${serve} admin`, mistake: 2 };
}

/** Whether a shell finds a program by its name alone. */
function isFound(path: string, environment: Process['environment']): boolean {
  return (environment['PATH'] ?? '').split(delimiter).includes(dirname(path));
}

/** A path below the working directory becomes relative. */
function nearer(path: string, folder: string): string {
  const short = relative(folder, path);
  return short.startsWith('..') ? path : short;
}

function inShell(path: string): string {
  return /^[\w./\\:@%+=,-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}

/** How this process was called. */
export function invocationOfProcess(): Invocation {
  return invocationOf({ path: process.argv[1] ?? '', folder: process.cwd(), environment: process.env });
}
