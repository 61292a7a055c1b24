import { MongoInstance, MongoInstanceEvents } from 'mongodb-memory-server-core/lib/util/MongoInstance.js';
import {
  ResolveConfigVariables,
  setDefaultValue,
} from 'mongodb-memory-server-core/lib/util/resolveConfig.js';
import { HOST, mongodEnvironment, REPLICA_SET, reticent, small } from './mongod.js';
import { reasonOf } from './run-program.js';

/** Recovering a large journal after a crash takes its time. */
const LAUNCH_MS = 120_000;

/** The library would run the program once more without the libraries that it brings along. */
setDefaultValue(ResolveConfigVariables.SYSTEM_BINARY_VERSION_CHECK, 'false');

export interface MongodSite {
  path: string;
  version: string;
  dbPath: string;
  port: number;
}

/**
 * One run of mongod, in a process group of its own so that Ctrl-C does not reach it, and with the library's guard
 * process beside it, which ends it when this process is gone.
 */
export class MongodProcess extends MongoInstance {
  /** How it ended, whenever it does. */
  readonly ended: Promise<string>;
  private unfinished = '';
  private complaint: string | undefined;

  constructor(site: MongodSite) {
    super({
      instance: {
        ip: HOST,
        port: site.port,
        dbPath: site.dbPath,
        replSet: REPLICA_SET,
        storageEngine: 'wiredTiger',
        launchTimeout: LAUNCH_MS,
        args: [...reticent, ...small],
      },
      binary: { systemBinary: site.path, version: site.version },
      spawn: { detached: true, env: mongodEnvironment(site.path) },
    });
    this.ended = new Promise((resolve) => {
      this.once(MongoInstanceEvents.instanceClosed, (code: number | null, signal: string | null) =>
        resolve(signal === null ? `code ${code}` : `signal ${signal}`),
      );
    });
  }

  override async start(): Promise<void> {
    try {
      await super.start();
    } catch (error) {
      throw new Error(this.complaint ?? reasonOf(error), { cause: error });
    }
  }

  /** The library takes each chunk for a line and stumbles over two in one. */
  override stdoutHandler(chunk: string | Buffer): void {
    const lines = (this.unfinished + chunk.toString()).split('\n');
    this.unfinished = lines.pop() ?? '';
    for (const line of lines) {
      this.complaint = complaintIn(line) ?? this.complaint;
      super.stdoutHandler(line);
    }
  }
}

/** What mongod says is wrong, where a line of its log is an error. */
export function complaintIn(line: string): string | undefined {
  if (!/^\{.*"s":"[EF]"/.test(line)) return undefined;
  try {
    const { msg, attr } = JSON.parse(line) as { msg: string; attr?: { error?: unknown } };
    return typeof attr?.error === 'string' ? `${msg}: ${attr.error}` : msg;
  } catch {
    return undefined;
  }
}
