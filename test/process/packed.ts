import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const PACKAGES = ['tidemark', 'tidemark-client', 'tidemark-conformance'] as const;
/** Imports and re-exports of a built module, and files that it finds beside itself. */
const LOADED =
  /(?:\bfrom|\bimport|import\(|require\.resolve\(|new URL\()\s*["'](\.{1,2}\/[^"']+\.[cm]?js)["']/g;

/** What `npm pack` makes of the packages. */
export interface Packed {
  /** Holds the archives. */
  folder: string;
  archives: string[];
  /** The files of each package. */
  files: Record<string, string[]>;
}

/** Packs the packages as they were built, into a folder of their own. */
export async function pack(): Promise<Packed> {
  const folder = await mkdtemp(join(tmpdir(), 'tidemark-packs-'));
  const words = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const workspaces = ['--include-workspace-root', '-w', 'tidemark-client', '-w', 'tidemark-conformance'];
  const { stdout } = await run('npm', [...words, ...workspaces], { maxBuffer: 2 ** 26 });
  const told = JSON.parse(stdout) as { name: string; filename: string; files: { path: string }[] }[];
  expect(told.map(({ name }) => name).sort()).toEqual([...PACKAGES]);
  return {
    folder,
    archives: told.map(({ filename }) => join(folder, filename)),
    files: Object.fromEntries(told.map(({ name, files }) => [name, files.map(({ path }) => path)])),
  };
}

/** Installs archives in an empty folder as their users do, and returns the folder. */
export async function install({ archives }: Packed): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tidemark-installed-'));
  await writeFile(join(folder, 'package.json'), '{"private": true}');
  const words = ['install', '--omit=dev', '--prefer-offline', '--no-audit', '--no-fund', ...archives];
  await run('npm', words, { cwd: folder });
  return folder;
}

/** The files of a package that its programs load or serve. */
export async function neededIn(root: string): Promise<string[]> {
  const found = new Set(await namedFiles(root));
  for (const file of found) {
    if (!/\.m?js$/.test(file) || /\/(pages|swagger-ui)\//.test(file)) continue;
    const text = await readFile(join(root, file), 'utf8');
    for (const [, path] of text.matchAll(LOADED)) found.add(posix.join(posix.dirname(file), path!));
  }
  return [...found];
}

interface Manifest {
  bin?: Record<string, string>;
  exports?: Record<string, string | Record<string, string>>;
}

/** What a package is entered by, and what its programs read. */
async function namedFiles(root: string): Promise<string[]> {
  const { bin = {}, exports = {} } = JSON.parse(
    await readFile(join(root, 'package.json'), 'utf8'),
  ) as Manifest;
  const entries = Object.values(exports).flatMap((entry) =>
    typeof entry === 'string' ? [entry] : Object.values(entry),
  );
  const named = [...Object.values(bin), ...entries].map((path) => posix.normalize(path));
  return root === '.' ? [...named, ...(await readByService())] : named;
}

async function readByService(): Promise<string[]> {
  const folders = ['dist/administration/console/pages', 'dist/platform/http/swagger-ui'];
  const files = folders.map(async (folder) => {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => posix.join(entry.parentPath, entry.name));
  });
  return ['dist/main.js', 'dist/commit', 'package.json', ...(await Promise.all(files)).flat()];
}
