import { homedir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';

/** Where this machine keeps what was fetched once: `tidemark` in `$XDG_CACHE_HOME`, else in `~/.cache`. */
export function cacheDir(): string {
  const base = process.env.XDG_CACHE_HOME ?? '';
  return join(isAbsolute(base) ? base : join(homedir(), '.cache'), 'tidemark');
}

/** The directories of `PATH`, in order. */
export function searchPath(): string[] {
  return (process.env.PATH ?? '').split(delimiter).filter((directory) => isAbsolute(directory));
}

/** Whether HTTPS goes through a proxy, so that a direct connection that fails says nothing. */
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
