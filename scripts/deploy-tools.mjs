/** Installs the tools that judge the files of a deployment: Python packages, helm, and packages of Debian. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { downloadPackage, installPackage } from './apt.mjs';

const home = resolve('.cache', 'deploy-tools');
const requirements = 'test/deploy/requirements.txt';
const python = process.env.PYTHON ?? 'python3';
/** Their makers publish source by Go's proxy of modules; Go compiles helm in five to ten minutes. */
const modules = {
  helm: 'helm.sh/helm/v3/cmd/helm@v3.18.4',
  actionlint: 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.7',
};
const MONGOSH = 'mongosh@2.12.0';
const longestMs = 30 * 60_000;

const inFolder = (folder, names) => Object.fromEntries(names.map((name) => [name, join(home, folder, name)]));

/** Where the programs are. HELM names another helm. */
export const programs = {
  ...inFolder('python/bin', ['check-jsonschema', 'hadolint', 'kubernetes-validate', 'reuse']),
  ...inFolder('debian/usr/bin', ['caddy', 'prometheus', 'promtool', 'strace']),
  ...inFolder('debian/usr/sbin', ['haproxy', 'nginx']),
  ...inFolder('mongosh/node_modules/.bin', ['mongosh']),
  ...inFolder('go', Object.keys(modules)),
  ...(process.env.HELM && { helm: process.env.HELM }),
  'systemd-analyze': '/usr/bin/systemd-analyze',
};

/** Packages with libraries that HAProxy loads, and the first of the files that each brings. */
const LIBRARIES = {
  'liblua5.3-0': 'liblua5.3.so.0',
  'libopentracing-c-wrapper0': 'libopentracing-c-wrapper.so.0',
  libopentracing1: 'libopentracing.so.1',
};

/** The folder of these libraries: Debian names it after the architecture. */
export function libraryFolder() {
  const folder = join(home, 'debian', 'usr', 'lib');
  const found = existsSync(folder)
    ? readdirSync(folder).find((name) => name.endsWith('-linux-gnu'))
    : undefined;
  return found && join(folder, found);
}

/** Whether all of them are there in the end; says which is not. */
export async function installDeployTools() {
  installPython();
  installMongosh();
  Object.keys(modules).forEach(installModule);
  await takeOut('caddy', programs.caddy);
  await takeOut('prometheus', programs.prometheus);
  for (const name of ['strace', 'haproxy', 'nginx']) await takeOut(name, programs[name]);
  for (const [name, file] of Object.entries(LIBRARIES))
    await takeOut(name, join(libraryFolder() ?? home, file));
  await installPackage('systemd', () => existsSync(programs['systemd-analyze']));
  return areThere(Object.values(programs), 'python3 with venv, go, and packages of Debian');
}

/** What an image is built and started with, as root: Podman needs no server. */
export async function installImageTools() {
  const packages = { podman: '/usr/bin/podman', mmdebstrap: '/usr/bin/mmdebstrap' };
  for (const [name, path] of Object.entries(packages)) await installPackage(name, () => existsSync(path));
  return areThere(Object.values(packages), 'root on Debian');
}

function areThere(paths, needs) {
  const missing = paths.filter((path) => !existsSync(path));
  if (missing.length === 0) return true;
  console.log(`\nThese tests CANNOT RUN HERE: ${missing.join(', ')} is missing. It needs ${needs}.`);
  return false;
}

function installPython() {
  const digest = createHash('sha256').update(readFileSync(requirements)).digest('hex');
  const note = join(home, 'python', 'installed');
  if (existsSync(note) && readFileSync(note, 'utf8') === digest) return;
  const folder = join(home, 'python');
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-deps'];
  if (
    run(python, ['-m', 'venv', '--clear', folder]) &&
    run(join(folder, 'bin', 'python'), [...pip, '--only-binary=:all:', '-r', requirements])
  )
    writeFileSync(note, digest);
}

/** A package of Debian that is not installed, since that would start a server. */
async function takeOut(name, program) {
  if (existsSync(program)) return;
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-package-'));
  await downloadPackage(name, folder);
  const archive = readdirSync(folder).find((file) => file.endsWith('.deb'));
  if (archive !== undefined) run('dpkg-deb', ['--extract', join(folder, archive), join(home, 'debian')]);
  rmSync(folder, { recursive: true });
}

function installMongosh() {
  if (existsSync(programs.mongosh)) return;
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel', 'error'];
  run('npm', ['install', ...quiet, '--prefix', join(home, 'mongosh'), MONGOSH]);
}

function installModule(name) {
  if (existsSync(programs[name])) return;
  mkdirSync(join(home, 'go'), { recursive: true });
  run('go', ['install', modules[name]], { GOBIN: join(home, 'go') });
}

/** Whether it ends well; what it says is shown. */
function run(program, args, env = {}) {
  const { status, error } = spawnSync(program, args, {
    env: { ...process.env, ...env },
    stdio: 'inherit',
    timeout: longestMs,
  });
  if (error !== undefined) console.log(error.message);
  return status === 0;
}
