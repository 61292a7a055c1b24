/** Puts one fault into a copy, with what is built of the changed file, and takes it out again. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const ASSEMBLY = 'src/replication/transcode/assembly/';
const WASM = 'dist/replication/transcode/wasm.js';
const CONSOLE = 'console/';
const PAGES = 'dist/administration/console/pages';

/** A fault is not seeded: what it was to change is not there, or what comes of it cannot be built. */
export class NotSeededError extends Error {}

/** The text of the fault's file with the fault in it. Throws NotSeededError unless its place is there, and once. */
export function faulty(text, { file, from, to }) {
  const times = text.split(from).length - 1;
  if (times !== 1) throw new NotSeededError(`${file} has ${times} times, not once: ${from}`);
  return text.replace(from, () => to);
}

/** Seeds a fault; the answer takes it out again. Throws NotSeededError, and leaves everything as it was then. */
export function seed(copy, compiler, fault) {
  const path = join(copy, fault.file);
  const text = readFileSync(path, 'utf8');
  const changed = faulty(text, fault);
  const javascript = compiler.knows(fault.file) ? compiled(compiler, fault, changed) : undefined;
  const built = builtOf(fault);
  if (javascript !== undefined)
    assertBuilt(compiler.compile(fault.file, text), readFileSync(join(copy, built), 'utf8'));
  const restoreBuilt = keep(built && join(copy, built));
  const restore = () => {
    writeFileSync(path, text);
    restoreBuilt();
  };
  try {
    writeFileSync(path, changed);
    if (javascript !== undefined) writeFileSync(join(copy, built), javascript);
    else if (built === WASM) runBuilder(copy, 'assemble', 'assemble');
    else if (built === PAGES) runBuilder(copy, 'build-console', 'buildConsole');
    return restore;
  } catch (error) {
    restore();
    throw error;
  }
}

function compiled(compiler, { file }, changed) {
  const { error, javascript } = compiler.compile(file, changed);
  if (error !== undefined) throw new NotSeededError(`it does not compile: ${error}`);
  return file.startsWith(CONSOLE) ? undefined : javascript;
}

/** What is compiled here shall be what the build makes, but for the fault. */
function assertBuilt({ javascript }, built) {
  if (javascript !== built)
    throw new NotSeededError('what is compiled of its file is not what the build makes of it');
}

/** What is built of a fault's file and is looked at by its tests; nothing where that is the file itself. */
function builtOf({ file, tests }) {
  if (file.startsWith(ASSEMBLY)) return WASM;
  if (file.startsWith(CONSOLE)) return tests.every((test) => test.startsWith('unit/')) ? undefined : PAGES;
  const [, folder = '', name] = /^((?:client|conformance)\/)?src\/(.*)\.ts$/.exec(file) ?? [];
  return name === undefined ? undefined : `${folder}dist/${name}.js`;
}

/** Runs one of the project's own builders. */
function runBuilder(copy, name, builder) {
  const module = pathToFileURL(join(copy, 'scripts', `${name}.mjs`)).href;
  const code = `import { ${builder} } from '${module}'; process.exit(${builder}() ? 0 : 1);`;
  const node = ['--input-type=module', '-e', code];
  const { status, stderr } = spawnSync(process.execPath, node, { cwd: copy, encoding: 'utf8' });
  if (status !== 0) throw new NotSeededError(`it cannot be built: ${stderr.trim().split('\n')[0]}`);
}

/** Keeps what is built now; the answer puts it back, newer than its source so that nothing builds it anew. */
function keep(built) {
  if (built === undefined) return () => {};
  const kept = `${built}.kept`;
  cpSync(built, kept, { recursive: true });
  return () => {
    rmSync(built, { recursive: true, force: true });
    cpSync(kept, built, { recursive: true });
    rmSync(kept, { recursive: true });
    const now = new Date();
    for (const one of [built, join(built, 'index.html')]) if (existsSync(one)) utimesSync(one, now, now);
  };
}
