/**
 * Builds the image of the service where there is no Docker: Podman with its isolation by chroot needs root, and no server. The base
 * is called like the official image of Node, which it stands for: Debian's packages, and Node from its npm package.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { installNode, ltsNode } from './lts-node.mjs';

const home = resolve('.cache', 'image');
const suite = 'bookworm';
const base = `docker.io/library/node:${ltsNode.version}-${suite}-slim`;
const certificates = '/etc/ssl/certs';

/** It keeps its images in a folder of the tests. */
const place = [
  '--root',
  join(home, 'storage'),
  '--runroot',
  join(home, 'run'),
  '--storage-driver',
  'overlay',
];
const podman = (...args) =>
  execFileSync('podman', [...place, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });

/** The image's configuration, and a folder with its files, which `leave` takes away. */
export async function builtImage() {
  mkdirSync(home, { recursive: true });
  if (!(await installNode())) throw new Error(`Node ${ltsNode.version} could not be installed.`);
  if (spawnSync('podman', [...place, 'image', 'exists', base]).status !== 0) buildBase();
  // Docker's format knows health checks.
  const how = ['--isolation', 'chroot', '--network', 'host', '--format', 'docker', ...ofThisMachine()];
  podman('build', '--quiet', ...how, '--tag', 'tidemark', '.');
  const [{ Config: config, Healthcheck: health }] = JSON.parse(podman('image', 'inspect', 'tidemark'));
  const leave = () => {
    podman('image', 'unmount', '--force', 'tidemark');
    // Layers of earlier builds.
    podman('image', 'prune', '--force');
  };
  return { config, health: health.Test, root: podman('image', 'mount', 'tidemark').trim(), leave };
}

function buildBase() {
  const context = join(home, 'base');
  mkdirSync(context, { recursive: true });
  const debian = join(context, `${suite}.tar`);
  // Node's own images have the libraries that Node is linked with.
  const packages = '--include=libatomic1,libstdc++6';
  if (!existsSync(debian))
    execFileSync('mmdebstrap', ['--quiet', '--variant=minbase', packages, suite, debian]);
  const npm = resolve(
    dirname(realpathSync(execFileSync('which', ['npm'], { encoding: 'utf8' }).trim())),
    '..',
  );
  cpSync(realpathSync(ltsNode.path), join(context, 'node'));
  cpSync(npm, join(context, 'npm'), { recursive: true });
  const lines = [
    'FROM scratch',
    `ADD ${suite}.tar /`,
    'COPY node /usr/local/bin/',
    'COPY npm /usr/local/lib/node_modules/npm',
    'RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm',
    'RUN groupadd --gid 1000 node && useradd --uid 1000 --gid node --create-home node',
  ];
  writeFileSync(join(context, 'Dockerfile'), `${lines.join('\n')}\n`);
  podman('build', '--quiet', '--isolation', 'chroot', '--tag', base, context);
  rmSync(context, { recursive: true });
}

/** How npm reaches its registry here. Mounted for the build only, so that the image keeps nothing of it. */
function ofThisMachine() {
  const settings = ['registry', 'cafile', 'https-proxy'].map((name) => {
    const value = execFileSync('npm', ['config', 'get', name], { encoding: 'utf8' }).trim();
    return value === 'null' || value === '' ? '' : `${name}=${value}\n`;
  });
  const file = join(home, 'npmrc');
  writeFileSync(file, settings.join(''));
  const folders = existsSync(certificates) ? ['--volume', `${certificates}:${certificates}:ro`] : [];
  return ['--volume', `${file}:/root/.npmrc:ro`, ...folders];
}
