import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { eventually } from '../../support/index.js';

const LISTENS_MS = 120_000;
const READY_MS = 180_000;
const ANSWER_MS = 5000;
const KEPT_LINES = 1000;

/** One instance of the built service as a process, which can be killed, held still and started again. */
export class ServiceNode {
  /** The last of what it has printed, errors included. */
  readonly lines: string[] = [];
  private child: ChildProcess | undefined;
  private ended: Promise<number | string> = Promise.resolve(0);
  private mayEnd = false;

  /** `program`: what it runs from its next start on. */
  constructor(
    readonly name: string,
    private readonly mongodbUri: string,
    public program = process.env['TIDEMARK_MAIN'] ?? 'dist/main.js',
  ) {}

  /** Where it listens; nothing while it does not run. */
  url: string | undefined;

  /** What nobody asked for: it has ended by itself. */
  crash: string | undefined;

  /** Spawns it and waits until it listens. */
  async start(): Promise<void> {
    this.mayEnd = false;
    const env = { ...process.env, MONGODB_URI: this.mongodbUri, PORT: '0', LOG_LEVEL: 'warn' };
    const child = spawn(process.execPath, [this.program], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child = child;
    for (const stream of [child.stdout, child.stderr]) {
      createInterface(stream).on('line', (line) => this.read(line));
    }
    this.ended = once(child, 'close').then(([code, signal]) => this.end((code ?? signal) as number | string));
    await eventually(() => this.url !== undefined || this.crash !== undefined, LISTENS_MS);
    this.assertRuns();
  }

  async ready(): Promise<void> {
    await eventually(() => {
      this.assertRuns();
      return this.isReady();
    }, READY_MS);
  }

  async isReady(): Promise<boolean> {
    const answer = await this.look('/health/ready').catch(() => undefined);
    return answer?.status === 200;
  }

  /** `kill -9`. */
  async kill(): Promise<void> {
    await this.endBy('SIGKILL');
  }

  /** Stops it in good order. */
  async stop(): Promise<void> {
    const how = await this.endBy('SIGTERM');
    if (how !== 0)
      throw new Error(`The ${this.name} service ended with ${how} on SIGTERM: ${this.lines.at(-1)}`);
  }

  /** Holds the process still, as a paused machine does. */
  pause(): void {
    this.child?.kill('SIGSTOP');
  }

  resume(): void {
    this.child?.kill('SIGCONT');
  }

  async leads(): Promise<boolean> {
    return (await this.metric('tidemark_watcher_leads')) === 1;
  }

  /** The sum of a metric over its labels; 0 where the process tells nothing. */
  async metric(name: string): Promise<number> {
    const text = await this.look('/metrics').then(
      (answer) => answer.text(),
      () => '',
    );
    return text
      .split('\n')
      .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
  }

  assertRuns(): void {
    if (this.crash !== undefined)
      throw new Error(`The ${this.name} service ended by itself with ${this.crash}: ${this.lines.at(-1)}`);
  }

  private look(path: string): Promise<Response> {
    return fetch(`${this.url}${path}`, { signal: AbortSignal.timeout(ANSWER_MS) });
  }

  private read(line: string): void {
    this.lines.push(line);
    if (this.lines.length > KEPT_LINES) this.lines.shift();
    this.url = /^Tidemark listens at (http:\S+)$/.exec(line)?.[1] ?? this.url;
  }

  private end(how: number | string): number | string {
    this.url = undefined;
    if (!this.mayEnd) this.crash = String(how);
    return how;
  }

  private endBy(signal: NodeJS.Signals): Promise<number | string> {
    this.mayEnd = true;
    this.child?.kill(signal);
    return this.ended;
  }
}
