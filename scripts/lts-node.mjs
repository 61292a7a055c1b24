/** The current LTS line of Node, beside the one of the machine. The package `node` brings it. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const home = join('.cache', 'node-lts');

export const ltsNode = { version: '26.10.0', path: join(home, 'node_modules', '.bin', 'node') };

/** Whether it is there in the end. */
export async function installNode() {
  if (isInstalled()) return true;
  const args = ['install', '--no-audit', '--no-fund', '--loglevel', 'error', '--prefix', home];
  await new Promise((resolve) => {
    const child = spawn('npm', [...args, `node@${ltsNode.version}`], { stdio: 'inherit' });
    child.once('error', resolve);
    child.once('close', resolve);
  });
  return isInstalled();
}

function isInstalled() {
  try {
    const { version } = JSON.parse(readFileSync(join(home, 'node_modules', 'node', 'package.json'), 'utf8'));
    return version === ltsNode.version;
  } catch {
    return false;
  }
}
