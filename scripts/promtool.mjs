/** Finds promtool of Prometheus for the tests of metrics and alerts, and takes it out of Debian's package where there is none. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const executable = process.env.PROMTOOL ?? join('.cache', 'promtool', 'promtool');
const longestMs = 5 * 60_000;

/** Whether there is one in the end; says so where there is none. */
export function installPromtool() {
  if (existsSync(executable)) return true;
  if (process.env.PROMTOOL === undefined) {
    console.log('\n== promtool, from the package prometheus of Debian');
    if (process.getuid?.() === 0) runs('apt-get', ['-qq', 'update']);
    takeOut();
    if (existsSync(executable)) return true;
  }
  console.log(
    `\nThe tests of metrics and alerts CANNOT RUN HERE: there is no ${executable}, and it cannot be had from Debian's ` +
      'package prometheus. Name a promtool with PROMTOOL.',
  );
  return false;
}

/** The package is not installed: that would start a server. */
function takeOut() {
  const directory = mkdtempSync(join(tmpdir(), 'tidemark-promtool-'));
  runs('apt-get', ['-qq', 'download', 'prometheus'], directory);
  const archive = readdirSync(directory).find((name) => name.endsWith('.deb'));
  if (archive !== undefined && runs('dpkg-deb', ['--extract', archive, 'files'], directory)) {
    mkdirSync(join('.cache', 'promtool'), { recursive: true });
    copyFileSync(join(directory, 'files', 'usr', 'bin', 'promtool'), `${executable}.part`);
    renameSync(`${executable}.part`, executable);
  }
  rmSync(directory, { recursive: true });
}

function runs(program, args, cwd = '.') {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return spawnSync(program, args, { cwd, env, stdio: 'ignore', timeout: longestMs }).status === 0;
}
