import { setTimeout as delay } from 'node:timers/promises';
import { FatalError, settledWithin } from '../platform/common/index.js';
import { reasonOf, type Say } from './run-program.js';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { mongo } from 'mongoose';
import {
  announce,
  assertOpens,
  type DataDirectory,
  openDataDirectory,
  rememberLine,
  waitUntilFree,
  withdraw,
} from './data-directory.js';
import { findMongod } from './find-mongod.js';
import type { MongodProcess, MongodSite } from './mongod-process.js';
import { HOST, REPLICA_SET } from './mongod.js';

/** A run that lasts until it is stopped or ends unexpectedly. */
interface MongodRun {
  /** Resolves with the reason when the run ends. */
  ended: Promise<string>;
  stop(): Promise<unknown>;
}

const MOST_ENDS = 5;
const WITHIN_MS = 60_000;
/** How long a stop waits for a start in progress (milliseconds). */
const STARTING_MS = 5000;
/** Pause before another attempt after a failed start (milliseconds). */
const PAUSE_MS = 500;

/** Keeps a mongod running. It is restarted after an unexpected end, until it ends too often. */
export class Supervisor {
  private current: Promise<MongodRun | undefined> = Promise.resolve(undefined);
  private stopping = false;
  private ends: number[] = [];

  constructor(
    private readonly start: () => Promise<MongodRun>,
    private readonly say: Say,
    private readonly onLost: (error: FatalError) => void,
  ) {}

  /** Starts mongod for the first time. A failure is thrown to the caller. */
  async begin(): Promise<void> {
    this.current = this.start();
    this.watch(await this.current);
  }

  /** A start in progress may take minutes. It is abandoned: mongod ends with this process. */
  async stop(): Promise<void> {
    this.stopping = true;
    const current = this.current.then((run) => ({ run }));
    const standing = await settledWithin(current, STARTING_MS);
    await standing?.run?.stop();
  }

  private watch(run: MongodRun | undefined): void {
    void run?.ended.then((how) => {
      if (!this.stopping) this.current = this.restart(how);
    });
  }

  private async restart(how: string): Promise<MongodRun | undefined> {
    let reason = `mongod ended with ${how}`;
    while (!this.stopping) {
      if (this.isTooOften(Date.now())) {
        this.onLost(new FatalError(lost(reason)));
        return undefined;
      }
      this.say(`${reason}; restarting mongod on the same data …`);
      try {
        const run = await this.start();
        this.say('mongod is back.');
        this.watch(run);
        return run;
      } catch (error) {
        reason = `mongod did not start: ${reasonOf(error)}`;
        await delay(PAUSE_MS);
      }
    }
    return undefined;
  }

  private isTooOften(now: number): boolean {
    this.ends = [...this.ends.filter((time) => now - time < WITHIN_MS), now];
    return this.ends.length >= MOST_ENDS;
  }
}

function lost(reason: string): string {
  return `mongod ended or failed to start ${MOST_ENDS} times within a minute. The last failure: ${reason}. Check whether the disk or the memory is full.`;
}

const PRIMARY_MS = 60_000;
const POLL_MS = 25;

/** MongoDB's codes for temporary errors, while a member starts or another configuration takes effect. */
const PASSING = new Set([23, 109, 11602, 91, 189, 10107, 13435, 13436]);
const NOT_INITIALIZED = 94;

/**
 * A range below the ephemeral ports. An outgoing connection could take an ephemeral port while mongod is down, even the
 * connection that checks whether it is up again.
 */
const FIRST_PORT = 20_000;
const PORTS_END = 32_000;
const MOST_ATTEMPTS = 100;

interface EmbeddedOptions {
  dataDir: string;
  /** The value of `MONGOMS_SYSTEM_BINARY`. */
  mongodBinary: string | undefined;
  say: Say;
  /**
   * Called when mongod has ended too often and is not restarted. The service cannot continue then. By default the error is
   * printed.
   */
  onLost?: (error: FatalError) => void;
}

export interface EmbeddedDatabase {
  /** Connection string; the database is `tidemark`. */
  uri: string;
  /** Shuts mongod down cleanly. */
  stop(): Promise<void>;
}

/**
 * Starts a real mongod as a single-member replica set on the loopback interface, with its data in `<dataDir>/mongod`, and
 * keeps it running. Acknowledged writes survive every exit of mongod and of this process. Throws a FatalError with
 * instructions if mongod cannot start.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const { say } = options;
  const directory = await openDataDirectory(options.dataDir);
  const mongod = await findMongod(options);
  await assertOpens(directory, mongod);
  await waitUntilFree(directory.dbPath, say);
  const port = await freePort(HOST);
  const site = { path: mongod.path, version: mongod.version, dbPath: directory.dbPath, port };
  const supervisor = new Supervisor(
    () => startMember(site, directory),
    say,
    options.onLost ?? ((error) => say(error.message)),
  );
  await supervisor.begin().catch((error: unknown) => {
    throw new FatalError(`mongod does not start on ${directory.dbPath}: ${reasonOf(error)}`);
  });
  const uri = `mongodb://${HOST}:${port}/tidemark?replicaSet=${REPLICA_SET}`;
  await announce(directory, uri);
  return {
    uri,
    stop: async () => {
      await withdraw(directory);
      await supervisor.stop();
    },
  };
}

/** A free port of this host, outside the ephemeral range. */
export async function freePort(host: string): Promise<number> {
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt += 1) {
    const port = randomInt(FIRST_PORT, PORTS_END);
    if (await isFree(port, host)) return port;
  }
  throw new FatalError(`No port from ${FIRST_PORT} to ${PORTS_END - 1} is free on ${host}.`);
}

/**
 * Starts mongod and makes it primary. The library that runs it is imported here, because a service with an external
 * database does not need it.
 */
async function startMember(site: MongodSite, directory: DataDirectory): Promise<MongodProcess> {
  const mongod = await import('./mongod-process.js');
  const member = new mongod.MongodProcess(site);
  await member.start();
  try {
    const ended = member.ended.then((how) => Promise.reject(new Error(`mongod ended with ${how}`)));
    await rememberLine(directory, await Promise.race([becomePrimary(site.port), ended]));
    return member;
  } catch (error) {
    await member.stop();
    throw error;
  }
}

/**
 * Makes the mongod on the port the only member of its replica set, even if its data contain another port. Waits until it
 * accepts writes, and returns the feature compatibility version of its data, such as `6.0`.
 */
async function becomePrimary(port: number): Promise<string> {
  const client = new mongo.MongoClient(`mongodb://${HOST}:${port}/?directConnection=true`, {
    serverSelectionTimeoutMS: PRIMARY_MS,
  });
  try {
    const admin = client.db('admin');
    const deadline = Date.now() + PRIMARY_MS;
    for (;;) {
      const line = await lineOfPrimary(admin, `${HOST}:${port}`).catch(unlessPassing);
      if (line !== undefined) return line;
      if (Date.now() > deadline)
        throw new Error(`mongod has not become primary within ${PRIMARY_MS / 1000} s`);
      await delay(POLL_MS);
    }
  } finally {
    await client.close();
  }
}

interface ReplicaSetConfig {
  _id: string;
  version: number;
  members: { _id: number; host: string }[];
}

/**
 * The feature compatibility version of the data. If the member is not primary yet, configures it and returns undefined.
 */
async function lineOfPrimary(admin: mongo.Db, host: string): Promise<string | undefined> {
  const { isWritablePrimary } = await admin.command({ hello: 1 });
  if (isWritablePrimary === true) return dataLine(admin);
  await configure(admin, host);
  return undefined;
}

/** Ignores temporary errors and network errors: a member that changes its state closes its connections. */
function unlessPassing(error: unknown): undefined {
  const isNotYet = error instanceof mongo.MongoServerError && PASSING.has(Number(error.code));
  if (!isNotYet && !(error instanceof mongo.MongoNetworkError)) throw error;
}

async function configure(admin: mongo.Db, host: string): Promise<void> {
  const config = await currentConfig(admin);
  const members = [{ _id: 0, host }];
  if (config === undefined) {
    await admin.command({ replSetInitiate: { _id: REPLICA_SET, members } });
  } else if (config.members[0]?.host !== host) {
    const moved = {
      ...config,
      version: config.version + 1,
      members: [{ ...config.members[0], ...members[0] }],
    };
    await admin.command({ replSetReconfig: moved, force: true });
  }
}

async function currentConfig(admin: mongo.Db): Promise<ReplicaSetConfig | undefined> {
  try {
    return (await admin.command({ replSetGetConfig: 1 })).config as ReplicaSetConfig;
  } catch (error) {
    if (error instanceof mongo.MongoServerError && error.code === NOT_INITIALIZED) return undefined;
    throw error;
  }
}

async function dataLine(admin: mongo.Db): Promise<string> {
  const answer = await admin.command({ getParameter: 1, featureCompatibilityVersion: 1 });
  return (answer.featureCompatibilityVersion as { version: string }).version;
}

async function isFree(port: number, host: string): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, host), 'listening');
    await once(server.close(), 'close');
    return true;
  } catch {
    return false;
  }
}
