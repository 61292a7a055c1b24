import { spawnSync } from 'node:child_process';
import { rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { startLockedSet } from './locked-set.mjs';
import { folderOfRun, MEMORY, SETS } from '../../../scripts/leftovers.mjs';

const started = [];

/** Bytes for each replica set: its oplog of 256 MiB, its journal, and what tests write. */
const NEEDED = 1536 * 1024 * 1024;

/** Builds the service, unless TIDEMARK_TEST_BUILT says that it is built. */
export function build() {
  if (process.env.TIDEMARK_TEST_BUILT === '1') return;
  if (spawnSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' }).status !== 0)
    throw new Error('The service under test does not build.');
  process.env.TIDEMARK_TEST_BUILT = '1';
}

/**
 * Starts replica sets of one member, each in a fresh directory and on a free port, of the version given or of the one that the
 * service would choose. Answers their addresses, without a database. With TIDEMARK_TEST_ROLE=1 they want a login, and services
 * have exactly the role of docs/roles.js (see freshDatabase in database.ts).
 */
export async function startSets(count, version) {
  const { startEmbedded, bundledMongod } = await import('../../../dist/embedded/index.js');
  const say = (line) => void process.stderr.write(`${line}\n`);
  const { MONGOMS_SYSTEM_BINARY: binary } = process.env;
  const parent = await folderFor(count);
  const mongodBinary = version === undefined ? binary : await bundledMongod(version, say);
  const start = async () => {
    const dataDir = folderOfRun(parent, SETS);
    const isLocked = process.env.TIDEMARK_TEST_ROLE === '1';
    const database = await (isLocked
      ? startLockedSet(dataDir, mongodBinary)
      : startEmbedded({ dataDir, mongodBinary, say }));
    started.push(async () => {
      await database.stop();
      await rm(dataDir, { recursive: true, force: true });
    });
    const uri = new URL(database.uri);
    uri.pathname = '/';
    return uri.href;
  };
  // The first one fetches the program where it is not there yet.
  const first = await start();
  return [first, ...(await Promise.all(Array.from({ length: count - 1 }, start)))];
}

/** In memory, where half of what is free there is enough. */
async function folderFor(count) {
  const { bavail, bsize } = await statfs(MEMORY).catch(() => ({ bavail: 0, bsize: 0 }));
  return (bavail * bsize) / 2 > count * NEEDED ? MEMORY : tmpdir();
}

export async function stopSets() {
  await Promise.all(started.splice(0).map((stop) => stop()));
}
