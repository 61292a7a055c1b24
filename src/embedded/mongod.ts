import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { environmentWithLibraries } from '../platform/config/plain.js';
import { runProgram } from './run-program.js';

const TIMEOUT_SECONDS = 20;

export const REPLICA_SET = 'tidemark';
export const HOST = '127.0.0.1';

/**
 * The options of every mongod that is started here: no socket in `/tmp`, no diagnostics on disk, and no zlib compression,
 * through which unpatched servers leak memory (CVE-2025-14847).
 */
export const QUIET_OPTIONS = [
  '--nounixsocket',
  ...['--setParameter', 'diagnosticDataCollectionEnabled=false'],
  ...['--networkMessageCompressors', 'snappy,zstd'],
];

export const SMALL_OPTIONS = ['--oplogSize', '256', '--wiredTigerCacheSizeGB', '0.5'];

/**
 * Older servers lack snapshot reads outside transactions and majority as the default write concern, which the feeds need.
 */
export const OLDEST_MAJOR = 5;

/** Runs a mongod and returns its version. Throws the reason if it is unusable. */
export async function verifyMongod(path: string): Promise<string> {
  const output = await runProgram(path, ['--version'], TIMEOUT_SECONDS, mongodEnvironment(path));
  const version = versionIn(output);
  if (version === undefined) throw new Error(`${path} is not a mongod`);
  if (!isSupported(version))
    throw new Error(`${path} is MongoDB ${version}, but the oldest supported version is ${OLDEST_MAJOR}.0`);
  return version;
}

/** The directory of the libraries that are bundled with a mongod: beside it, under a name that no other program uses. */
export function librariesOf(mongod: string): string {
  return join(dirname(mongod), 'mongod-libraries');
}

/** The environment of a mongod: that of this process, extended by the bundled libraries if there are any. */
export function mongodEnvironment(mongod: string): Record<string, string | undefined> {
  const libraries = librariesOf(mongod);
  return environmentWithLibraries(existsSync(libraries) ? [libraries] : []);
}

/** The version in the output of `mongod --version`, such as `6.0.5`. */
export function versionIn(output: string): string | undefined {
  return /^\s*db version v?(\d+\.\d+\.\d+)/m.exec(output)?.[1];
}

/** Whether the service supports this version of MongoDB. */
export function isSupported(version: string): boolean {
  return numbers(version)[0] >= OLDEST_MAJOR;
}

/** Compares two versions, to sort the newest first. */
export function newestFirst(a: string, b: string): number {
  const [left, right] = [numbers(a), numbers(b)];
  return right[0] - left[0] || right[1] - left[1] || right[2] - left[2];
}

/**
 * Whether a mongod of `version` opens data whose feature compatibility version is `line` (such as `6.0`): data of its
 * own line, of an earlier line of the same major version, or, if `version` is an `x.0`, of the previous major version.
 */
export function opensData(version: string, line: string): boolean {
  const [major, minor] = numbers(version);
  const [dataMajor, dataMinor] = numbers(line);
  return major === dataMajor ? minor >= dataMinor : major === dataMajor + 1 && minor === 0;
}

function numbers(version: string): [number, number, number] {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  return [major, minor, patch];
}
