import { mkdtemp, rm } from 'node:fs/promises';
import Module from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

declare global {
  /** Ends what the setup of this run has started. */
  var stopTestMongod: (() => Promise<void>) | undefined;
}

const MOST = 2;

/**
 * A replica set for each worker of the run, two at most, on a fresh directory and a free port, since some tests hold
 * theirs still or fill its log. TIDEMARK_TEST_MONGODB_URIS tells where they are (no database in it), with a space between
 * two; where TIDEMARK_TEST_MONGODB_URI is set already, that one serves all instead. TIDEMARK_TEST_MONGOD says of which
 * version they are.
 */
export default async function setUp({ maxWorkers }: { maxWorkers: number }): Promise<void> {
  if (process.env['TIDEMARK_TEST_MONGODB_URI'] !== undefined) return;
  const { startEmbedded, testMongodBinary } = await withTypeScriptNames(load);
  const say = (line: string) => void process.stderr.write(`${line}\n`);
  const mongodBinary = await testMongodBinary(say);
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
  process.env['TIDEMARK_TEST_MONGODB_URIS'] = all.map(({ uri }) => uri).join(' ');
  globalThis.stopTestMongod = async () => {
    delete process.env['TIDEMARK_TEST_MONGODB_URIS'];
    await Promise.all(all.map(({ stop }) => stop()));
  };
}

function withoutDatabase(address: string): string {
  const uri = new URL(address);
  uri.pathname = '/';
  return uri.href;
}

async function load() {
  const [{ startEmbedded }, { testMongodBinary }] = await Promise.all([
    import('../../src/embedded/index.js'),
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
