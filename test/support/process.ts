import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { eventually } from './eventually.js';

const START_MS = 120_000;

export interface ProcessOptions {
  dataDir: string;
  /** `npm start`, but without the build before it. */
  throughNpm?: boolean;
  /** Of another copy of the service. */
  program?: string;
  environment?: Record<string, string>;
}

export function freshDataDir(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'tidemark-data-'));
}

export function removeDataDir(dataDir: string): Promise<void> {
  return rm(dataDir, { recursive: true, force: true });
}

/** The built service (`dist/main.js`) as a process of its own, on the embedded database unless it is given another. */
export class ServiceProcess {
  /** What it has printed: both of the following. */
  readonly lines: string[] = [];
  /** stdout, the log. */
  readonly logged: string[] = [];
  /** stderr, what people are told. */
  readonly said: string[] = [];
  /** Exit code, or the signal that ended it. */
  readonly exited: Promise<number | string>;

  private constructor(
    private readonly child: ChildProcess,
    private readonly dataDir: string,
  ) {
    this.read(child.stdout, this.logged);
    this.read(child.stderr, this.said);
    this.exited = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | string);
  }

  private read(stream: Readable | null, lines: string[]): void {
    if (stream === null) return;
    createInterface(stream).on('line', (line) => [lines, this.lines].forEach((each) => each.push(line)));
  }

  /** Spawns it, in a process group of its own as a terminal does, without waiting for anything. */
  static spawn({
    dataDir,
    throughNpm = false,
    program = 'dist/main.js',
    environment = {},
  }: ProcessOptions): ServiceProcess {
    const env: NodeJS.ProcessEnv = {
      ...process.env,
      MONGODB_URI: '',
      DATA_DIR: dataDir,
      PORT: '0',
      LOG_LEVEL: 'warn',
      ...environment,
    };
    const [command, args] = throughNpm
      ? ['npm', ['start', '--ignore-scripts']]
      : [process.execPath, [program]];
    const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    return new ServiceProcess(child, dataDir);
  }

  /** Spawns it and waits until it is ready to serve. */
  static async start(options: ProcessOptions): Promise<ServiceProcess> {
    const service = ServiceProcess.spawn(options);
    await service.eventually(() => service.isReady());
    return service;
  }

  /** Waits until a line that it prints has the text. */
  prints(text: string): Promise<void> {
    return this.eventually(() => this.lines.some((line) => line.includes(text)));
  }

  /** Fails at once when the service ends, and shows what it has printed. */
  private async eventually(condition: () => Promise<boolean> | boolean): Promise<void> {
    let ended: number | string | undefined;
    void this.exited.then((how) => (ended = how));
    try {
      await eventually(() => {
        if (ended !== undefined) throw new Error(`The service ended with ${ended}`);
        return condition();
      }, START_MS);
    } catch (error) {
      const { message } = error as Error;
      throw new Error(`${message}. It printed:\n${this.lines.join('\n')}`, { cause: error });
    }
  }

  get url(): string | undefined {
    return this.lines.map((line) => /^Tidemark listens at (https?:\S+)$/.exec(line)?.[1]).find(Boolean);
  }

  /** Where health and metrics are. */
  get stateUrl(): string | undefined {
    const apart = this.lines.map((line) => /^Health and metrics are at (\S+)$/.exec(line)?.[1]).find(Boolean);
    return apart ?? this.url;
  }

  async isReady(): Promise<boolean> {
    const { stateUrl } = this;
    if (stateUrl === undefined) return false;
    return fetch(`${stateUrl}/health/ready`).then(
      (answer) => answer.status === 200,
      () => false,
    );
  }

  /** Holds the process still, as a machine does that is short of time. */
  pause(): void {
    this.child.kill('SIGSTOP');
  }

  /** Lets it go on. */
  resume(): void {
    this.child.kill('SIGCONT');
  }

  /** Process ids: what was spawned, the node that serves, and its mongod. */
  async pids(): Promise<{ spawned: number; node: number; mongod: number }> {
    const { pid } = await this.note();
    const lock = await readFile(join(this.dataDir, 'mongod', 'mongod.lock'), 'utf8');
    return { spawned: this.child.pid ?? 0, node: pid, mongod: Number(lock) };
  }

  /** The connection string of its database. */
  async mongodbUri(): Promise<string> {
    return (await this.note()).uri;
  }

  private async note(): Promise<{ uri: string; pid: number }> {
    return JSON.parse(await readFile(join(this.dataDir, 'embedded.json'), 'utf8')) as {
      uri: string;
      pid: number;
    };
  }

  /** Stops it in good order. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | string> {
    this.child.kill(signal);
    return this.exited;
  }
}

/** Waits until none of the processes runs; one that is dead but not yet collected by its parent does not run. */
export async function gone(...pids: number[]): Promise<void> {
  await eventually(async () => (await Promise.all(pids.map(runs))).every((running) => !running));
}

async function runs(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const state = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return !/\) [ZX] /.test(state);
}
