import { basename, delimiter, dirname, join, relative, sep } from 'node:path';

/** How the programs of the package were called, as help and advice name them. */
export interface Calling {
  /** Such as `npx tidemark`: starts the service. */
  serve: string;
  /** Such as `npx tidemark admin`; the name of a command follows. */
  admin: string;
  /** The exit code of a mistake in the command line. The older programs promise 1 for every error (contract §5). */
  mistake: 1 | 2;
}

/** The scripts of a clone. */
export const IN_CLONE: Calling = { serve: 'npm start', admin: 'npm run -s admin --', mistake: 1 };

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

/** How a process was called: by a script of npm in a clone, by npx, by the name of a program, or as a file of Node. */
export function callingOf({ path, folder, environment }: Process): Calling {
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
export function callingOfProcess(): Calling {
  return callingOf({ path: process.argv[1] ?? '', folder: process.cwd(), environment: process.env });
}
