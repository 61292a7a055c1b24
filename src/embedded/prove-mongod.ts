import { mongodEnvironment } from './libraries.js';
import { runProgram } from './run-program.js';
import { isServed, OLDEST_MAJOR, versionIn } from './versions.js';

const TIMEOUT_SECONDS = 20;

/** Runs a mongod and answers its version. Fails with the reason why it is of no use here. */
export async function proveMongod(path: string): Promise<string> {
  const output = await runProgram(path, ['--version'], TIMEOUT_SECONDS, mongodEnvironment(path));
  const version = versionIn(output);
  if (version === undefined) throw new Error(`${path} is no mongod`);
  if (!isServed(version))
    throw new Error(`${path} is MongoDB ${version}, and ${OLDEST_MAJOR}.0 is the oldest that serves`);
  return version;
}
