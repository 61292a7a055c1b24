import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freshDataDir, removeDataDir, ServiceProcess } from '../support/process.js';

const PACKAGE = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*\/node_modules\/)/;
const NO_DATABASE = 'mongodb://127.0.0.1:1/tidemark';

let dataDir: string;
let notes: string;
beforeEach(async () => {
  dataDir = await freshDataDir();
  notes = await mkdtemp(join(tmpdir(), 'tidemark-loaded-'));
});
afterEach(async () => {
  await removeDataDir(dataDir);
  await rm(notes, { recursive: true });
});

/** How many modules of each package a process loaded that had NODE_V8_COVERAGE and has ended. */
async function loaded(): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const file of await readdir(notes)) {
    const { result } = JSON.parse(await readFile(join(notes, file), 'utf8')) as { result: { url: string }[] };
    for (const { url } of result) {
      const name = PACKAGE.exec(url)?.[1] ?? 'own or of Node';
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  return counts;
}

/** The packages that a command loads, on a data directory without a database. */
async function loadedBy(words: string): Promise<string[]> {
  const env = { ...process.env, MONGODB_URI: '', DATA_DIR: dataDir, NODE_V8_COVERAGE: notes };
  spawnSync(process.execPath, ['dist/cli.js', ...words.split(' ')], { env, stdio: 'ignore' });
  return [...(await loaded()).keys()];
}

const isOfService = (name: string) =>
  /^(@nestjs\/.+|express|rxjs|class-validator|prom-client|pino|passport|mongodb-memory-server-core)$/.test(
    name,
  );

describe('a process loads what it needs, and no other package', () => {
  it.each(['--help', 'help', 'credential issue --help', 'statsu', 'import --org demo'])(
    'help, and a mistake in the words: neither what the service needs nor the driver (%s)',
    async (words) => {
      const packages = await loadedBy(words);
      expect(packages).toContain('string-width');
      expect(packages.filter((name) => isOfService(name) || /^(mongoose|mongodb|bson)$/.test(name))).toEqual(
        [],
      );
    },
  );

  it.each(['status', 'credential list', 'config export', 'resync --org demo --app shop --kind member'])(
    'a command: nothing that only the service needs (%s)',
    async (words) => {
      const packages = await loadedBy(words);
      expect(packages).toContain('mongoose');
      expect(packages.filter(isOfService)).toEqual([]);
    },
  );

  it('the service on a database of its own: nothing that runs a mongod', async () => {
    const environment = { MONGODB_URI: NO_DATABASE, NODE_V8_COVERAGE: notes };
    const service = ServiceProcess.spawn({ dataDir, environment });
    await service.prints('Tidemark listens');
    expect(await service.stop()).toBe(0);
    const counts = await loaded();
    expect(counts.get('@nestjs/core')).toBeGreaterThan(0);
    expect(counts.get('mongodb-memory-server-core')).toBeUndefined();
  });
});
