/** Everything that the bench starts, and its end: also on Ctrl-C nothing is left running or lying about. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clearTimeout, setTimeout } from 'node:timers';
import { treeOf } from './cpu.mjs';
import { say } from './say.mjs';

const KEPT_LINES = 30;

const running = new Set();
const directories = new Set();

process.on('exit', () => {
  for (const { pid } of running) signal(pid, 'SIGKILL');
  for (const directory of directories) rmSync(directory, { recursive: true, force: true, maxRetries: 20 });
});
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(name, () => {
    say(`Stopped by ${name}`);
    process.exit(130);
  });
}

/** A directory that is gone when the bench ends. */
export function temporaryDirectory() {
  const directory = mkdtempSync(join(tmpdir(), 'tidemark-bench-'));
  directories.add(directory);
  return directory;
}

/** A program that runs until it is stopped, as another `user` (`{ uid, gid }`) where one is given. */
export class Process {
  /** The last of what it has printed, for when it ends by itself. */
  lines = [];
  hasEnded = false;

  constructor(program, args, { env = {}, cwd, ipc = false, user = {} } = {}) {
    const stdio = ['ignore', 'pipe', 'pipe', ...(ipc ? ['ipc'] : [])];
    this.child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio, ...user });
    this.pid = this.child.pid;
    running.add(this);
    this.ended = new Promise((resolve) => {
      this.child.once('error', (error) => this.end(resolve, error.message));
      this.child.once('close', (code, name) => this.end(resolve, name ?? code));
    });
    for (const stream of [this.child.stdout, this.child.stderr]) stream.on('data', (text) => this.read(text));
  }

  /** Throws what it said last where it has ended by itself. */
  assertRuns() {
    if (this.hasEnded) throw new Error(`it ended: ${this.lines.join('\n')}`);
  }

  /** Holds it and all below it still, as a machine does that is short of time. */
  pause() {
    signal(this.pid, 'SIGSTOP');
  }

  resume() {
    signal(this.pid, 'SIGCONT');
  }

  async stop(name = 'SIGTERM') {
    if (!this.hasEnded) this.child.kill(name);
    const timer = setTimeout(() => signal(this.pid, 'SIGKILL'), 15_000);
    await this.ended;
    clearTimeout(timer);
  }

  read(text) {
    this.lines.push(...String(text).trimEnd().split('\n'));
    this.lines.splice(0, this.lines.length - KEPT_LINES);
  }

  end(resolve, how) {
    this.hasEnded = true;
    this.lines.push(`ended with ${how}`);
    running.delete(this);
    resolve(how);
  }
}

/** Runs a program to its end; throws what it said where that is no success. */
export async function run(program, args, options) {
  const { ended, lines } = new Process(program, args, options);
  if ((await ended) !== 0) throw new Error(`${program} ${args.join(' ')}: ${lines.join('\n')}`);
}

/** The answer of a node program of the bench, which is sent one message and sends one back. */
export async function ask(worker, message) {
  const answer = once(worker.child, 'message');
  worker.child.send(message);
  const [reply] = await Promise.race([answer, worker.ended.then(() => [])]);
  worker.assertRuns();
  return reply;
}

function signal(pid, name) {
  if (pid === undefined) return;
  for (const member of treeOf(pid)) {
    try {
      process.kill(member, name);
    } catch {
      // It has ended meanwhile.
    }
  }
}
