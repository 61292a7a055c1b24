/** Installs the tools that the examples are for, each in a virtual environment of its own: they want different versions. */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installPackage } from './apt.mjs';

const home = process.env.CONNECTORS ?? join('.cache', 'connectors');
/** What each of them is made of. */
const requirements = {
  airbyte: 'examples/airbyte/requirements.txt',
  dlt: 'examples/dlt/requirements.txt',
  singer: 'examples/singer/requirements.txt',
  opensearch: 'test/connectors/opensearch.txt',
};
const tools = Object.keys(requirements);
const python = process.env.PYTHON ?? 'python3';
const longestMs = 20 * 60_000;

/** Whether all of them are there in the end; says so where one is not. */
export async function installConnectors() {
  if (tools.every(isInstalled)) return true;
  if (!canMakeEnvironments() && !(await installPackage('python3-venv', canMakeEnvironments)))
    return refuse(`${python} makes no virtual environments (on Debian: the package python3-venv)`);
  const said = await Promise.all(tools.map(install));
  return said.every((one) => one === '') || refuse(said.join('\n').trim());
}

function refuse(why) {
  console.log(
    `\nThe tests of connectors CANNOT RUN HERE: ${why}. PYTHON names another Python, of 3.10 to 3.13.`,
  );
  return false;
}

function canMakeEnvironments() {
  return spawnSync(python, ['-c', 'import ensurepip, venv'], { stdio: 'ignore' }).status === 0;
}

const note = (tool) => join(home, tool, 'installed');
const digest = (tool) => createHash('sha256').update(readFileSync(requirements[tool])).digest('hex');

function isInstalled(tool) {
  try {
    return readFileSync(note(tool), 'utf8') === digest(tool);
  } catch {
    return false;
  }
}

/**
 * What went wrong, if anything. Wheels only, so that no package runs code before it is used; they are compiled when they are
 * used, since most of their files never are.
 */
async function install(tool) {
  if (isInstalled(tool)) return '';
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-input'];
  const asTold = ['--no-compile', '--no-deps', '--only-binary=:all:', '-r', requirements[tool]];
  const made = await run(python, ['-m', 'venv', '--clear', join(home, tool)]);
  const said = made || (await run(join(home, tool, 'bin', 'python'), [...pip, ...asTold]));
  if (said === '') writeFileSync(note(tool), digest(tool));
  return said;
}

/** What a program says where it fails. */
function run(program, args) {
  return new Promise((end) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: longestMs });
    const output = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => output.push(piece));
    child.once('error', ({ message }) => end(message));
    child.once('close', (code) => end(code === 0 ? '' : `${program} ended with ${code}: ${output.join('')}`));
  });
}
