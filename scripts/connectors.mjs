/** Installs the tools that the examples are for, each in a virtual environment of its own: they want different versions. */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installPackage } from './apt.mjs';

const home = process.env.CONNECTORS ?? join('.cache', 'connectors');
/** What each of them is made of. */
const requirements = {
  airbyte: 'examples/airbyte/requirements.txt',
  dlt: 'examples/dlt/requirements.txt',
  singer: 'examples/singer/requirements.txt',
  opensearch: 'test/connectors/opensearch.txt',
  'generated-clients': 'test/connectors/generated-clients/requirements.txt',
};
const tools = Object.keys(requirements);
const python = process.env.PYTHON ?? 'python3';
const longestMs = 20 * 60_000;

/** uv installs in a tenth of the CPU time that pip takes. */
const UV = 'uv==0.13.9';
/** Where pip's settings for packages belong in the environment of uv, which has no file of pip's. */
const OF_UV = {
  'index-url': 'UV_DEFAULT_INDEX',
  'extra-index-url': 'UV_INDEX',
  'find-links': 'UV_FIND_LINKS',
  cert: 'SSL_CERT_FILE',
};

/** Whether all of them are there in the end; says so where one is not. */
export async function installConnectors() {
  if (tools.every(isInstalled)) return true;
  if (!canMakeEnvironments() && !(await installPackage('python3-venv', canMakeEnvironments)))
    return refuse(`${python} makes no virtual environments (on Debian: the package python3-venv)`);
  const said = (await installUv()) || (await Promise.all(tools.map(install))).join('\n').trim();
  return said === '' || refuse(said);
}

function refuse(why) {
  console.log(
    `\nThe tests of connectors CANNOT RUN HERE: ${why}. PYTHON names another Python, of 3.11 to 3.13.`,
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

const uv = (name) => join(home, 'uv', 'bin', name);

/** What went wrong, if anything. */
async function installUv() {
  if (existsSync(uv('uv'))) return '';
  const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-input'];
  const made = await run(python, ['-m', 'venv', '--clear', join(home, 'uv')]);
  return made || run(uv('python'), [...install, '--no-deps', '--only-binary=:all:', UV]);
}

/** What went wrong, if anything. Wheels only, so that no package runs code before it is used. */
async function install(tool) {
  if (isInstalled(tool)) return '';
  const folder = join(home, tool);
  const packages = ['--no-deps', '--only-binary', ':all:', '-r', requirements[tool]];
  const made = await run(uv('uv'), ['venv', '--quiet', '--clear', '--python', python, folder]);
  const said = made || (await run(uv('uv'), ['pip', 'install', '--quiet', '--python', folder, ...packages]));
  if (said === '') writeFileSync(note(tool), digest(tool));
  return said;
}

let environment;

/** Packages come from where pip would take them. */
function environmentOfUv() {
  const { stdout } = spawnSync(uv('python'), ['-m', 'pip', 'config', 'list'], { encoding: 'utf8' });
  const lines = (stdout ?? '').matchAll(/^\S+\.([\w-]+)='(.*)'$/gm);
  const settings = [...lines]
    .filter(([, name]) => name in OF_UV)
    .map(([, name, value]) => [OF_UV[name], value]);
  return { UV_CACHE_DIR: join(home, 'uv', 'cache'), ...Object.fromEntries(settings), ...process.env };
}

/** What a program says where it fails. */
function run(program, args) {
  return new Promise((end) => {
    const env = program === uv('uv') ? (environment ??= environmentOfUv()) : process.env;
    const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: longestMs });
    const output = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => output.push(piece));
    child.once('error', ({ message }) => end(message));
    child.once('close', (code) => end(code === 0 ? '' : `${program} ended with ${code}: ${output.join('')}`));
  });
}
