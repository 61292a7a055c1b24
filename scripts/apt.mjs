import { spawn } from 'node:child_process';

const longestMs = 5 * 60_000;
/** Debian's tools hold a lock: one at a time. */
let turn = Promise.resolve();
let isUpdated = false;

/**
 * Installs a package of Debian unless what it brings is there; answers whether it is there in the end. Where this is no
 * Debian, or not its root, nothing is tried.
 */
export async function installPackage(name, isThere) {
  if (isThere()) return true;
  if (process.getuid?.() !== 0) return false;
  await inTurn(async () => {
    await update();
    await aptGet(['install', '--yes', '--no-install-recommends', name]);
  });
  return isThere();
}

/** Fetches the file of a package into a folder without installing it. */
export function downloadPackage(name, folder) {
  return inTurn(async () => {
    if (process.getuid?.() === 0) await update();
    await aptGet(['download', name], folder);
  });
}

function inTurn(work) {
  turn = turn.then(work);
  return turn;
}

async function update() {
  if (!isUpdated) await aptGet(['update']);
  isUpdated = true;
}

/** What it says is of no use: whoever asked looks at what is there. */
function aptGet(args, cwd = '.') {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return new Promise((resolve) => {
    const child = spawn('apt-get', ['-qq', ...args], { cwd, env, stdio: 'ignore', timeout: longestMs });
    child.once('error', resolve);
    child.once('close', resolve);
  });
}
