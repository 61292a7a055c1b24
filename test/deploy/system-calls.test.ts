import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programs } from '../../scripts/deploy-tools.mjs';
import { eventually } from '../support/eventually.js';
import { startOwn } from '../support/own-mongod.js';
import { freePort } from './free-port.js';
import { run } from './program.js';

jest.setTimeout(120_000);

const unit = readFileSync('deploy/systemd/tidemark.service', 'utf8');

/** The system calls of a set, with those of the sets that it contains. */
function callsOf(set: string): string[] {
  const { said } = run('systemd-analyze', ['syscall-filter', '--no-pager', set]);
  const lines = said.split('\n').map((line) => line.trim());
  const members = lines.filter((line) => /^@?[a-z0-9_-]+$/.test(line) && line !== set);
  return members.flatMap((member) => (member.startsWith('@') ? callsOf(member) : [member]));
}

/** What the unit's filters allow. */
function allowed(): Set<string> {
  const filters = [...unit.matchAll(/^SystemCallFilter=(~?)(.+)$/gm)];
  const calls = new Set<string>();
  for (const [, isDenied, sets] of filters)
    for (const call of sets!.split(' ').flatMap(callsOf)) {
      if (isDenied === '') calls.add(call);
      else calls.delete(call);
    }
  return calls;
}

/** Names of the system calls that the service makes while it starts, is asked and stops. */
async function callsOfService(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-strace-'));
  const mongod = await startOwn();
  const port = await freePort();
  const counts = join(folder, 'counts');
  const env = { ...process.env, MONGODB_URI: mongod.uri, PORT: String(port), LOG_FORMAT: 'json' };
  const trace = ['--follow-forks', '--summary-only', '--summary-columns=name', `--output=${counts}`];
  const command = [...trace, process.execPath, 'dist/main.js'];
  const child = spawn(programs.strace, command, { env, stdio: ['ignore', 'pipe', 'ignore'] });
  let log = '';
  child.stdout.on('data', (piece) => (log += String(piece)));
  const url = `http://127.0.0.1:${port}`;
  await eventually(
    () =>
      fetch(`${url}/health/ready`).then(
        ({ ok }) => ok,
        () => false,
      ),
    60_000,
  );
  expect((await fetch(`${url}/metrics`)).status).toBe(200);
  // A refused login is hashed, in a thread of its own, and logged.
  const feed = `${url}/a/b/api/v1/product/max`;
  expect((await fetch(feed, { headers: { authorization: `Basic ${btoa('a:b')}` } })).status).toBe(401);
  await eventually(() => log.includes('"pid":'), 10_000);
  process.kill(Number(/"pid":(\d+)/.exec(log)![1]), 'SIGTERM');
  await once(child, 'exit');
  const names = readFileSync(counts, 'utf8').match(/^[a-z]\w+$/gm) ?? [];
  await mongod.stop();
  rmSync(folder, { recursive: true });
  return names.filter((name) => !['syscall', 'total'].includes(name));
}

it('the unit allows the system calls that the service makes', async () => {
  const made = await callsOfService();
  expect(made).toEqual(expect.arrayContaining(['accept4', 'execve', 'futex', 'read', 'write']));
  const calls = allowed();
  expect(calls.has('ptrace')).toBe(false);
  expect(made.filter((name) => !calls.has(name))).toEqual([]);
});
