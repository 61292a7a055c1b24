import { mkdtemp, rm } from 'node:fs/promises';
import Module from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

declare global {
  /** Ends what the setup of this run has started. */
  var stopTestMongod: (() => Promise<void>) | undefined;
}

/**
 * One replica set for the whole run, on a fresh directory and a free port; the tests read where it is from
 * TIDEMARK_TEST_MONGODB_URI (no database in it). Where that is set already, its replica set serves instead.
 * TIDEMARK_TEST_MONGOD says of which version it is.
 */
export default async function setUp(): Promise<void> {
  if (process.env['TIDEMARK_TEST_MONGODB_URI'] !== undefined) return;
  const { startEmbedded, testMongodBinary } = await withTypeScriptNames(load);
  const say = (line: string) => void process.stderr.write(`${line}\n`);
  const dataDir = await mkdtemp(join(tmpdir(), 'tidemark-test-'));
  const database = await startEmbedded({ dataDir, mongodBinary: await testMongodBinary(say), say });
  const uri = new URL(database.uri);
  uri.pathname = '/';
  process.env['TIDEMARK_TEST_MONGODB_URI'] = uri.href;
  globalThis.stopTestMongod = async () => {
    delete process.env['TIDEMARK_TEST_MONGODB_URI'];
    await database.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
}

async function load() {
  const [{ startEmbedded }, { testMongodBinary }] = await Promise.all([
    import('../../src/database/index.js'),
    import('./test-mongod.js'),
  ]);
  return { startEmbedded, testMongodBinary };
}

type Resolve = (
  this: unknown,
  request: string,
  parent: { filename?: string } | undefined,
  ...rest: unknown[]
) => string;

/** Jest transforms what a global setup imports, but maps no names for it: `./x.js` must lead to `./x.ts` here too. */
async function withTypeScriptNames<T>(load: () => Promise<T>): Promise<T> {
  const resolver = Module as unknown as { _resolveFilename: Resolve };
  const original = resolver._resolveFilename;
  resolver._resolveFilename = function (request, parent, ...rest) {
    const fromSource = parent?.filename?.endsWith('.ts') === true && request.startsWith('.');
    return original.call(this, fromSource ? request.replace(/\.js$/, '') : request, parent, ...rest);
  };
  try {
    return await load();
  } finally {
    resolver._resolveFilename = original;
  }
}
