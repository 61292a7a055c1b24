import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { eventually } from '../support/eventually.js';

const MOST_MS = 5 * 60_000;
/** What npm and Jest tell the programs that they start; a terminal tells nothing of it. */
const NOT_OF_A_TERMINAL = /^(npm_.*|JEST_.*|NODE_ENV|FORCE_COLOR|INIT_CWD|MONGODB_URI|DATA_DIR)$/;

/** The shell of a terminal is not ended by Ctrl-C, and tells how the command has ended. */
const OUTLIVES_CTRL_C = 'trap : INT';

/** What was typed, while it runs and afterwards. */
export class Typed {
  /** What it has printed, errors included. */
  readonly lines: string[] = [];
  /** Exit code, or the signal that ended it. */
  readonly exited: Promise<number | string>;
  private hasEnded = false;

  constructor(private readonly child: ChildProcess) {
    for (const stream of [child.stdout, child.stderr])
      createInterface(stream!).on('line', (line) => this.lines.push(line));
    this.exited = once(child, 'close').then(([code, signal]) => {
      this.hasEnded = true;
      return (code ?? signal) as number | string;
    });
  }

  /** Waits until a line that it prints has the text; fails where it ends before. */
  async prints(text: string): Promise<void> {
    const isPrinted = () => this.lines.some((line) => line.includes(text));
    await eventually(() => isPrinted() || this.hasEnded, MOST_MS);
    if (!isPrinted()) throw new Error(`It ended without "${text}". It printed:\n${this.lines.join('\n')}`);
  }

  /** As Ctrl-C does: to all that was started. */
  async interrupt(): Promise<number | string> {
    this.signal('SIGINT');
    return this.exited;
  }

  /** Its end, or that of all that was started where it takes too long. */
  async ended(): Promise<number | string> {
    const timer = setTimeout(() => this.signal('SIGKILL'), MOST_MS);
    return this.exited.finally(() => clearTimeout(timer));
  }

  private signal(name: NodeJS.Signals): void {
    if (!this.hasEnded) process.kill(-this.child.pid!, name);
  }
}

/** What is built here is what the clone would build. */
const isCommitted =
  execFileSync('git', ['status', '--porcelain', '--', 'src', 'client', 'conformance', 'console']).length ===
  0;

function share(clone: string, folder: string, how: string): void {
  if (existsSync(folder)) execFileSync('cp', [how, folder, join(clone, folder)]);
}

/**
 * A fresh clone of what is committed here, in which a newcomer types commands. What `npm ci` and the build bring is taken from
 * here: that both work in a fresh clone is what `.ci/run` shows.
 */
export class Clone {
  private readonly typed: Typed[] = [];
  private readonly outputs = new Map<string, Promise<string>>();

  private constructor(readonly directory: string) {}

  /** A folder outside of the clone, which whoever needs it makes. */
  get elsewhere(): string {
    return `${this.directory}-elsewhere`;
  }

  static make(): Clone {
    const directory = mkdtempSync(join(tmpdir(), 'tidemark-clone-'));
    execFileSync('git', ['clone', '--quiet', process.cwd(), directory]);
    for (const folder of ['.', 'console', 'client', 'conformance']) {
      share(directory, join(folder, 'node_modules'), '-al');
      if (isCommitted) share(directory, join(folder, 'dist'), '-r');
    }
    return new Clone(directory);
  }

  /** The text of the README, of CONTRIBUTING and of each of `docs/`. */
  documents(): string[] {
    const docs = readdirSync(join(this.directory, 'docs')).filter((name) => name.endsWith('.md'));
    const names = ['README.md', 'CONTRIBUTING.md', ...docs.sort().map((name) => join('docs', name))];
    return names.map((name) => this.read(name));
  }

  read(name: string): string {
    return readFileSync(join(this.directory, name), 'utf8');
  }

  has(name: string): boolean {
    return existsSync(join(this.directory, name));
  }

  /** Starts a command as a shell in a terminal does. */
  type(command: string, environment: Record<string, string> = {}): Typed {
    const inherited = Object.entries(process.env).filter(([name]) => !NOT_OF_A_TERMINAL.test(name));
    const env = { ...Object.fromEntries(inherited), PORT: '0', LOG_LEVEL: 'warn', ...environment };
    const child = spawn('sh', ['-c', `${OUTLIVES_CTRL_C}; ${command}`], {
      ...{ cwd: this.directory, env, detached: true },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const typed = new Typed(child);
    this.typed.push(typed);
    return typed;
  }

  /** What a command prints, which ends with exit code 0. One that was typed before is not typed again. */
  output(command: string): Promise<string> {
    const known = this.outputs.get(command);
    const output = known ?? this.newOutput(command);
    this.outputs.set(command, output);
    return output;
  }

  /** Starts a service that is interrupted as soon as it listens, on a database of its own. */
  async listens(command: string): Promise<void> {
    const service = this.type(command, { DATA_DIR: join('data', String(this.typed.length)) });
    await service.prints('Tidemark listens at http://127.0.0.1:');
    expect(await service.interrupt()).toBe(0);
  }

  async remove(): Promise<void> {
    await Promise.all(this.typed.map((typed) => typed.interrupt()));
    for (const folder of [this.directory, this.elsewhere]) await rm(folder, { recursive: true, force: true });
  }

  private async newOutput(command: string): Promise<string> {
    const typed = this.type(command);
    const code = await typed.ended();
    const text = typed.lines.join('\n');
    if (code !== 0) throw new Error(`${command} ended with ${code}. It printed:\n${text}`);
    return text;
  }
}
