import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freshDataDir, removeDataDir, ServiceProcess } from '../support/process.js';

const PACKAGE = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*\/node_modules\/)/;
const BUNDLED = /\/dist\/bundled\/[^/]+\.js$/;
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

/** The scripts that a process loaded that had NODE_V8_COVERAGE and has ended. */
async function scripts(): Promise<string[]> {
  const files = await readdir(notes);
  const texts = await Promise.all(files.map((file) => readFile(join(notes, file), 'utf8')));
  return texts.flatMap((text) => (JSON.parse(text) as { result: { url: string }[] }).result.map(urlOf));
}

const urlOf = ({ url }: { url: string }) => url;

/** Where a script's modules come from: a bundled one holds many, but for the bundler's own functions. */
async function sourcesOf(url: string): Promise<string[]> {
  if (!BUNDLED.test(url)) return [url];
  const map = await readFile(`${fileURLToPath(url)}.map`, 'utf8').catch(() => '{ "sources": [] }');
  return (JSON.parse(map) as { sources: string[] }).sources;
}

/** How many modules of each package it loaded. */
async function loaded(): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const source of (await Promise.all((await scripts()).map(sourcesOf))).flat()) {
    const name = PACKAGE.exec(source)?.[1] ?? 'own or of Node';
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

/** The packages that a command loads, on a data directory without a database. */
async function loadedBy(words: string, program = 'cli'): Promise<string[]> {
  const env = { ...process.env, MONGODB_URI: '', DATA_DIR: dataDir, NODE_V8_COVERAGE: notes };
  spawnSync(process.execPath, [`dist/${program}.js`, ...words.split(' ')], { env, stdio: 'ignore' });
  return [...(await loaded()).keys()];
}

const isOfService = (name: string) =>
  /^(@nestjs\/.+|express|rxjs|prom-client|pino|passport|mongodb-memory-server-core)$/.test(name);

function expectLight(packages: string[]): void {
  expect(packages).toContain('string-width');
  const heavy = packages.filter((name) => isOfService(name) || /^(mongoose|mongodb|bson)$/.test(name));
  expect(heavy).toEqual([]);
}

describe('a process loads what it needs, and no other package', () => {
  it.each(['--help', 'help', 'credential issue --help', 'statsu', 'import --org demo'])(
    'help, and a mistake in the words: neither what the service needs nor the driver (%s)',
    async (words) => {
      expectLight(await loadedBy(words));
    },
  );

  it.each(['--version', 'admin --help', 'stauts'])(
    'nor does the program of all (tidemark %s)',
    async (words) => {
      expectLight(await loadedBy(words, 'tidemark'));
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
    await serve();
    const counts = await loaded();
    expect(counts.get('@nestjs/core')).toBeGreaterThan(0);
    expect(counts.get('mongodb-memory-server-core')).toBeUndefined();
    // The metrics' package loads the API, which does nothing alone.
    const ofTraces = [...counts.keys()].filter((name) => /^@opentelemetry\/(?!api$)/.test(name));
    expect(ofTraces).toEqual([]);
    // All but machine code is bundled, so that no package is loaded twice.
    const others = (await scripts()).filter((url) => !BUNDLED.test(url) && !url.startsWith('node:'));
    expect(new Set(others.map((url) => PACKAGE.exec(url)?.[1] ?? url.split('/').at(-1)))).toEqual(
      new Set(['main.js', '@node-rs/argon2']),
    );
    const sources = (await Promise.all((await scripts()).map(sourcesOf))).flat();
    expect(sources.filter((source) => source.endsWith('/src/app.ts'))).toHaveLength(1);
    expect(sources.filter((source) => source.endsWith('/mongodb/lib/cmap/connection.js'))).toHaveLength(1);
  });
});

/** Runs the service until it listens, and looks at its pages. */
async function serve(): Promise<void> {
  const environment = { MONGODB_URI: NO_DATABASE, NODE_V8_COVERAGE: notes };
  const service = ServiceProcess.spawn({ dataDir, environment });
  await service.prints('Tidemark listens');
  const pages = ['/console', '/docs', '/docs/swagger-ui.css', '/openapi.json', '/health/live'];
  const answers = await Promise.all(pages.map((page) => fetch(`${service.url}${page}`)));
  await Promise.all(answers.map((answer) => answer.arrayBuffer()));
  expect(answers.map(({ status }) => status)).toEqual(pages.map(() => 200));
  expect(await service.stop()).toBe(0);
}
