import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';

/** Where `npm run test:connectors` installs the tools. */
export const HOME = process.env['CONNECTORS'] ?? join('.cache', 'connectors');
const PAGE = readFileSync(join('docs', 'tools.md'), 'utf8');

/** Exit code or signal, and what was printed. */
export interface EndedRun {
  how: number | string;
  stdout: string;
  stderr: string;
}

/** A program that runs, with everything that it has started. */
export class Running {
  private stdout = '';
  private stderr = '';
  private readonly exited: Promise<number | string>;

  constructor(private readonly child: ChildProcess) {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.exited = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string);
  }

  /** As `kill -9` does, whatever it is about. */
  kill(): void {
    process.kill(-this.child.pid!, 'SIGKILL');
  }

  async end(): Promise<EndedRun> {
    const how = await this.exited;
    return { how, stdout: this.stdout, stderr: this.stderr };
  }
}

/** A directory in which a tool keeps its state, and the environment that its programs run in. */
export class Workplace {
  private constructor(
    readonly directory: string,
    private readonly environment: NodeJS.ProcessEnv,
  ) {}

  /** With a tool that `npm run test:connectors` has installed: it has a home of its own here, and tells nobody of itself. */
  static async of(tool: string, environment: Record<string, string> = {}): Promise<Workplace> {
    const directory = await mkdtemp(join(tmpdir(), 'tidemark-connector-'));
    await symlink(resolve('examples'), join(directory, 'examples'));
    const PATH = [resolve(HOME, tool, 'bin'), process.env['PATH']].join(delimiter);
    const quiet = { RUNTIME__DLTHUB_TELEMETRY: 'false', DLT_DATA_DIR: directory };
    return new Workplace(directory, { ...process.env, ...quiet, HOME: directory, PATH, ...environment });
  }

  /** The command for one sync that `docs/tools.md` names under a heading: the last one of the first block there. */
  sync(heading: string): Running {
    const [, section = ''] = PAGE.split(`\n## ${heading}\n`);
    const [, block = ''] = /```shell\n(.*?)\n```/s.exec(section) ?? [];
    return this.run(
      'sh',
      '-c',
      block
        .replace(/\\\n\s*/g, '')
        .split('\n')
        .at(-1)!,
    );
  }

  run(program: string, ...args: string[]): Running {
    const options = { cwd: this.directory, env: this.environment, detached: true };
    return new Running(spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] }));
  }

  file(name: string): string {
    return join(this.directory, name);
  }

  async clear(): Promise<void> {
    await rm(this.directory, { recursive: true });
  }
}
