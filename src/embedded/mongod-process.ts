import { MongoInstance, MongoInstanceEvents } from 'mongodb-memory-server-core/lib/util/MongoInstance.js';
import {
  ResolveConfigVariables,
  setDefaultValue,
} from 'mongodb-memory-server-core/lib/util/resolveConfig.js';
import { HOST, mongodEnvironment, REPLICA_SET, QUIET_OPTIONS, SMALL_OPTIONS } from './mongod.js';
import { reasonOf } from './run-program.js';

/** Time limit for a start (milliseconds). Recovery from a large journal after a crash is slow. */
const LAUNCH_MS = 120_000;

/** Disables a check of the library that would run mongod once more, without its bundled libraries. */
setDefaultValue(ResolveConfigVariables.SYSTEM_BINARY_VERSION_CHECK, 'false');

export interface MongodSite {
  path: string;
  version: string;
  dbPath: string;
  port: number;
}

/**
 * One run of mongod. It has its own process group, so that Ctrl-C does not reach it. The library's guard process ends it
 * when this process is gone.
 */
export class MongodProcess extends MongoInstance {
  /** Resolves with the exit code or the signal when mongod ends. */
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
        args: [...QUIET_OPTIONS, ...SMALL_OPTIONS],
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

  /** Passes the output on line by line: the library takes each chunk for one line, and fails on a chunk with two. */
  override stdoutHandler(chunk: string | Buffer): void {
    const lines = (this.unfinished + chunk.toString()).split('\n');
    this.unfinished = lines.pop() ?? '';
    for (const line of lines) {
      this.complaint = complaintIn(line) ?? this.complaint;
      super.stdoutHandler(line);
    }
  }
}

/** The error message in a line of mongod's log; undefined if the line is not an error. */
export function complaintIn(line: string): string | undefined {
  if (!/^\{.*"s":"[EF]"/.test(line)) return undefined;
  try {
    const { msg, attr } = JSON.parse(line) as { msg: string; attr?: { error?: unknown } };
    return typeof attr?.error === 'string' ? `${msg}: ${attr.error}` : msg;
  } catch {
    return undefined;
  }
}
