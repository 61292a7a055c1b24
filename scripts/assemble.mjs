/**
 * Compiles the AssemblyScript of the feeds to WebAssembly, and does nothing where nothing has changed. The module it
 * writes is imported like any other, by the service and by the tests.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const compiler = join(root, 'node_modules/assemblyscript/bin/asc.js');
const source = join(root, 'src/replication/feed/transcode/assembly');
const target = join(root, 'dist/replication/feed/transcode/wasm.js');

const options = [
  ...['-O3', '--noAssert'],
  ...['--enable', 'simd', '--runtime', 'stub', '--use', 'abort='],
  ...['--initialMemory', '10'],
];

/** Whether the module is there and newer than its source, after compiling it where it was not. */
export function assemble() {
  return isFresh() || compile();
}

function compile() {
  mkdirSync(dirname(target), { recursive: true });
  const directory = mkdtempSync(`${target}.`);
  const [binary, module] = [join(directory, 'module.wasm'), join(directory, 'module.js')];
  const arguments_ = [compiler, join(source, 'index.ts'), '--outFile', binary, ...options];
  const { status } = spawnSync(process.execPath, arguments_, { stdio: 'inherit' });
  if (status === 0) {
    writeFileSync(module, moduleOf(readFileSync(binary)));
    renameSync(module, target);
  }
  rmSync(directory, { recursive: true });
  return status === 0;
}

function moduleOf(program) {
  return [
    `const program = Buffer.from('${program.toString('base64')}', 'base64');`,
    'export function instantiate(host) {',
    '  return new WebAssembly.Instance(new WebAssembly.Module(program), { host }).exports;',
    '}\n',
  ].join('\n');
}

function isFresh() {
  if (!existsSync(target)) return false;
  const built = statSync(target).mtimeMs;
  const lock = join(root, 'package-lock.json');
  const sources = [source, ...readdirSync(source).map((name) => join(source, name))];
  return [fileURLToPath(import.meta.url), lock, ...sources].every((path) => statSync(path).mtimeMs <= built);
}
