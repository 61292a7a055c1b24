import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MOST = 4;

/**
 * Builds the service, unless TIDEMARK_TEST_BUILT says that it is, and starts a replica set for each worker of the run, four
 * at most, on a fresh directory and a free port, since some tests hold theirs still or fill its log.
 * TIDEMARK_TEST_MONGODB_URIS tells where they are (no database in it), with a space between two; where
 * TIDEMARK_TEST_MONGODB_URI is set already, that one serves all instead.
 * TIDEMARK_TEST_MONGOD says of which version they are.
 */
export default async function setUp({ maxWorkers }) {
  const isBuilt = process.env.TIDEMARK_TEST_BUILT === '1';
  if (!isBuilt && spawnSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' }).status !== 0)
    throw new Error('The service that the tests are about cannot be built.');
  if (process.env.TIDEMARK_TEST_MONGODB_URI !== undefined) return;
  const { startEmbedded, wheelMongod } = await import('../../dist/embedded/index.js');
  const say = (line) => void process.stderr.write(`${line}\n`);
  const { TIDEMARK_TEST_MONGOD: version, MONGOMS_SYSTEM_BINARY: binary } = process.env;
  const mongodBinary = version === undefined ? binary : await wheelMongod(version, say);
  const start = async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'tidemark-test-'));
    const database = await startEmbedded({ dataDir, mongodBinary, say });
    const stop = async () => {
      await database.stop();
      await rm(dataDir, { recursive: true, force: true });
    };
    return { uri: withoutDatabase(database.uri), stop };
  };
  const first = await start();
  const others = await Promise.all(Array.from({ length: Math.min(maxWorkers, MOST) - 1 }, start));
  const all = [first, ...others];
  process.env.TIDEMARK_TEST_MONGODB_URIS = all.map(({ uri }) => uri).join(' ');
  globalThis.stopTestMongod = async () => {
    delete process.env.TIDEMARK_TEST_MONGODB_URIS;
    await Promise.all(all.map(({ stop }) => stop()));
  };
}

function withoutDatabase(address) {
  const uri = new URL(address);
  uri.pathname = '/';
  return uri.href;
}
