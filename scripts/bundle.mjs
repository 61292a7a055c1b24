/**
 * Bundles the service, its commands and their packages into a few files, unless these are up to date: a start opens 100 files
 * instead of 3,500, and takes half of the CPU time. `dist/main.js` and `dist/cli.js` run the bundles. The compiled module of each
 * file of `src/` stays beside them, for the tests and for `npm run dev`.
 */
import { chmodSync, existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { packagesOf, writePackages } from './bundled-packages.mjs';
import { plugins } from './bundling.mjs';

const bundler = 'node_modules/rolldown/dist/index.mjs';
const compiled = resolve('dist');
const folder = join(compiled, 'bundled');
/** What `writePackages` writes. */
const ABOUT_PACKAGES = ['packages.json', 'LICENSES.txt'];
/** What each begins with, by name; its module is `NAME.entry.js`. */
const programs = { main: '', cli: '#!/usr/bin/env node\n', tidemark: '#!/usr/bin/env node\n' };
const paths = Object.keys(programs).map((name) => join(compiled, `${name}.js`));

/** Whether the programs are there and newer than what they are made of, after making them where they were not. */
export async function bundle() {
  if (isFresh()) return true;
  try {
    await write();
    return true;
  } catch (error) {
    console.error(error.message);
    return false;
  }
}

function isFresh() {
  if (!paths.every((path) => existsSync(path))) return false;
  const built = Math.min(...paths.map((path) => statSync(path).mtimeMs));
  const names = readdirSync(compiled, { recursive: true }).filter((name) => name.endsWith('.js'));
  const modules = names.map((name) => join(compiled, name)).filter((path) => !isBundled(path));
  const scripts = ['bundle', 'bundled-packages', 'bundling'].map((name) =>
    join(import.meta.dirname, `${name}.mjs`),
  );
  return ['package-lock.json', ...scripts, ...modules].every((path) => statSync(path).mtimeMs <= built);
}

const isBundled = (path) => paths.includes(path) || path.startsWith(folder);

/** The programs are written last: where they are new, all that they load is. */
async function write() {
  const { rolldown } = await import(resolve(bundler));
  const names = Object.keys(programs);
  const bundle = await rolldown({
    input: Object.fromEntries(names.map((name) => [name, join(compiled, `${name}.entry.js`)])),
    platform: 'node',
    // Machine code, which its package looks for in places of its own; and packages that Nest uses only for classes that the
    // service does not have.
    external: [/^@node-rs\//, /^class-(transformer|validator)$/],
    plugins: plugins({ compiled, folder }),
    onLog,
  });
  const { output } = await bundle.write({
    dir: folder,
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
    // Schemas of the OpenAPI document, and errors in the log, are called by names of classes.
    keepNames: true,
    sourcemap: true,
    sourcemapExcludeSources: true,
  });
  await bundle.close();
  writePackages(folder, packagesOf(output.flatMap(({ moduleIds = [] }) => moduleIds)));
  const written = new Set([...ABOUT_PACKAGES, ...output.map(({ fileName }) => fileName)]);
  for (const name of readdirSync(folder)) if (!written.has(name)) rmSync(join(folder, name));
  names.forEach((name, index) => {
    writeFileSync(paths[index], `${programs[name]}import './bundled/${name}.js';\n`);
    chmodSync(paths[index], 0o755);
  });
}

/** An optional package that is not installed is looked for when a program runs. */
function onLog(_level, { code, id, message }) {
  if (code === 'UNRESOLVED_IMPORT' && id?.includes('node_modules')) return;
  throw new Error(message);
}
