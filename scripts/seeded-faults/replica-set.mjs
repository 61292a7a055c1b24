/** One replica set for all the tests that need one, started by the first of them. */
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { folderOfRun, SETS } from '../leftovers.mjs';

export class SharedReplicaSet {
  #copy;
  #started;

  /** Started by what is built in the copy, before there is a fault in it. */
  constructor(copy) {
    this.#copy = copy;
  }

  /** The address of the one that runs, with no database in it; undefined where none is needed. */
  async uriFor(isNeeded) {
    if (!isNeeded) return undefined;
    this.#started ??= await this.#start();
    return this.#started.uri;
  }

  async stop() {
    const started = this.#started;
    this.#started = undefined;
    await started?.stop();
  }

  /** TIDEMARK_TEST_MONGOD and MONGOMS_SYSTEM_BINARY say on which mongod, as for all tests; an address that is given serves. */
  async #start() {
    const { TIDEMARK_TEST_MONGODB_URI: given, TIDEMARK_TEST_MONGOD: version } = process.env;
    if (given !== undefined) return { uri: given, stop: () => Promise.resolve() };
    const room = pathToFileURL(join(this.#copy, 'dist', 'embedded', 'index.js')).href;
    const { startEmbedded, bundledMongod } = await import(room);
    const say = () => undefined;
    const dataDir = folderOfRun(tmpdir(), SETS);
    const binary = process.env.MONGOMS_SYSTEM_BINARY;
    const mongodBinary = version === undefined ? binary : await bundledMongod(version, say);
    const database = await startEmbedded({ dataDir, mongodBinary, say });
    const uri = new URL(database.uri);
    uri.pathname = '/';
    const stop = async () => {
      await database.stop();
      rmSync(dataDir, { recursive: true, force: true });
    };
    return { uri: uri.href, stop };
  }
}
