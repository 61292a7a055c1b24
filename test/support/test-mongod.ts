import { findMongod, mongodEnvironment, bundledMongod } from '../../src/embedded/index.js';

type Say = (line: string) => void;

/**
 * The mongod that the tests shall use: of the version that TIDEMARK_TEST_MONGOD names, such as `6.0.5`, fetched where it
 * is not yet there; else the one that MONGOMS_SYSTEM_BINARY names; else the service's own choice.
 */
export async function testMongodBinary(say: Say): Promise<string | undefined> {
  const version = process.env['TIDEMARK_TEST_MONGOD'];
  return version === undefined ? process.env['MONGOMS_SYSTEM_BINARY'] : bundledMongod(version, say);
}

/** The same as a program to spawn, with the environment that it needs. */
export async function testMongod(): Promise<{ program: string; env: NodeJS.ProcessEnv }> {
  const quiet = () => undefined;
  const { path } = await findMongod({ mongodBinary: await testMongodBinary(quiet), say: quiet });
  return { program: path, env: mongodEnvironment(path) };
}
