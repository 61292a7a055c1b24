import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { QUIET_OPTIONS } from '../../../src/embedded/index.js';

export const REPLICA_SET = 'faults';

export interface MongodOptions {
  program: string;
  env: NodeJS.ProcessEnv;
  dbpath: string;
  port: number;
  /** The shortest log that the server can keep: it rolls over within 40 MB of writes. */
  shortOplog: boolean;
  /** With a key file clients have to log in. */
  keyFile?: string;
}

/** One mongod, which can be killed and started again on the same port and data. */
export class Mongod {
  private child: ChildProcess | undefined;

  constructor(private readonly options: MongodOptions) {}

  get port(): number {
    return this.options.port;
  }

  get host(): string {
    return `127.0.0.1:${this.options.port}`;
  }

  start(): void {
    const { program, env, dbpath, port, shortOplog, keyFile } = this.options;
    const place = ['--dbpath', dbpath, '--port', String(port), '--bind_ip', '127.0.0.1', ...QUIET_OPTIONS];
    const oplog = shortOplog ? ['--oplogSize', '10', '--syncdelay', '1'] : ['--oplogSize', '256'];
    const small = ['--wiredTigerCacheSizeGB', '0.5'];
    const log = ['--logpath', `${dbpath}/mongod.log`, '--logappend'];
    const lock = keyFile === undefined ? [] : ['--keyFile', keyFile];
    this.child = spawn(program, ['--replSet', REPLICA_SET, ...place, ...oplog, ...small, ...log, ...lock], {
      env,
      stdio: 'ignore',
    });
  }

  kill(): Promise<void> {
    return this.end('SIGKILL');
  }

  /** With SIGTERM it stops in good order. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const { child } = this;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }
}
