/**
 * Compiles the AssemblyScript of the feeds to WebAssembly, and does nothing where nothing has changed. The module it
 * writes is imported like any other, by the service and by the tests. It holds the program twice: as it is, and as one
 * that can pause wherever it calls its host (Binaryen's pass asyncify), which takes up to twice the time.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const compiler = join(root, 'node_modules/assemblyscript/bin/asc.js');
const source = join(root, 'src/replication/transcode/assembly');
const target = join(root, 'dist/replication/transcode/wasm.js');

const options = [
  ...['-O3', '--noAssert'],
  ...['--enable', 'simd', '--runtime', 'stub', '--use', 'abort='],
  ...['--initialMemory', '10'],
];
const pausing = ['--runPasses', 'asyncify'];

/** Whether the module is there and newer than its source, after compiling it where it was not. */
export function assemble() {
  return isFresh() || compile();
}

function compile() {
  mkdirSync(dirname(target), { recursive: true });
  const directory = mkdtempSync(`${target}.`);
  const module = join(directory, 'module.js');
  const programs = [programWith(directory, options), programWith(directory, [...options, ...pausing])];
  const isCompiled = !programs.includes(undefined);
  if (isCompiled) {
    writeFileSync(module, moduleOf(...programs));
    renameSync(module, target);
  }
  rmSync(directory, { recursive: true });
  return isCompiled;
}

function programWith(directory, options) {
  const binary = join(directory, 'module.wasm');
  const arguments_ = [compiler, join(source, 'index.ts'), '--outFile', binary, ...options];
  const { status } = spawnSync(process.execPath, arguments_, { stdio: 'inherit' });
  return status === 0 ? readFileSync(binary).toString('base64') : undefined;
}

function moduleOf(program, pausingProgram) {
  return [
    `const moduleOf = (base64) => new WebAssembly.Module(Buffer.from(base64, 'base64'));`,
    'const instanceOf = (module, host) => new WebAssembly.Instance(module, { host }).exports;',
    `const program = moduleOf('${program}');`,
    `const pausing = moduleOf('${pausingProgram}');`,
    'export const instantiate = (host) => instanceOf(program, host);',
    'export const instantiatePausing = (host) => instanceOf(pausing, host);\n',
  ].join('\n');
}

function isFresh() {
  if (!existsSync(target)) return false;
  const built = statSync(target).mtimeMs;
  const lock = join(root, 'package-lock.json');
  const sources = [source, ...readdirSync(source).map((name) => join(source, name))];
  return [fileURLToPath(import.meta.url), lock, ...sources].every((path) => statSync(path).mtimeMs <= built);
}
