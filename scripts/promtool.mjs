/** Finds promtool of Prometheus for the tests of metrics and alerts, and takes it out of Debian's package where there is none. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { downloadPackage } from './apt.mjs';

const executable = process.env.PROMTOOL ?? join('.cache', 'promtool', 'promtool');

/** Whether there is one in the end; says so where there is none. */
export async function installPromtool() {
  if (existsSync(executable)) return true;
  if (process.env.PROMTOOL === undefined) {
    await takeOut();
    if (existsSync(executable)) return true;
  }
  console.log(
    `\nThe tests of metrics and alerts CANNOT RUN HERE: there is no ${executable}, and it cannot be had from Debian's ` +
      'package prometheus. Name a promtool with PROMTOOL.',
  );
  return false;
}

/** The package is not installed: that would start a server. */
async function takeOut() {
  const directory = mkdtempSync(join(tmpdir(), 'tidemark-promtool-'));
  await downloadPackage('prometheus', directory);
  const archive = readdirSync(directory).find((name) => name.endsWith('.deb'));
  const extract = ['--extract', archive, 'files'];
  if (archive !== undefined && spawnSync('dpkg-deb', extract, { cwd: directory }).status === 0) {
    mkdirSync(join('.cache', 'promtool'), { recursive: true });
    copyFileSync(join(directory, 'files', 'usr', 'bin', 'promtool'), `${executable}.part`);
    renameSync(`${executable}.part`, executable);
  }
  rmSync(directory, { recursive: true });
}
