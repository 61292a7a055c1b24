import { mkdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { mongo } from 'mongoose';
import { FatalError } from '../platform/common/index.js';
import { isAlive, ownPid } from '../platform/config/plain.js';
import type { FoundMongod } from './find-mongod.js';
import { opensData } from './mongod.js';
import { runProgram, type Say } from './run-program.js';

/** Timeouts in milliseconds: for a server to report its data directory, and for an earlier mongod to release the data. */
const ANSWER_MS = 3000;
const RELEASE_MS = 20_000;
const POLL_MS = 100;

/** The parts of `DATA_DIR` that belong to the embedded database. */
export interface DataDirectory {
  /** The files of mongod. */
  dbPath: string;
  /** Holds the feature compatibility version of those files, such as `6.0`. */
  lineFile: string;
  /** Holds the connection string of the database while it runs. */
  runningFile: string;
}

export async function openDataDirectory(dataDir: string): Promise<DataDirectory> {
  try {
    await mkdir(join(dataDir, 'mongod'), { recursive: true, mode: 0o700 });
    const home = await realpath(dataDir);
    return dataDirectory(home);
  } catch (error) {
    throw new FatalError(
      `DATA_DIR ${dataDir} cannot be used: ${(error as Error).message}. Set it to a directory that the service can write.`,
    );
  }
}

/**
 * Throws a FatalError before a mongod of an incompatible version damages the data, or fails with an obscure message.
 */
export async function assertOpens(directory: DataDirectory, mongod: FoundMongod): Promise<void> {
  const line = await fileText(directory.lineFile);
  if (line === undefined || opensData(mongod.version, line)) return;
  throw new FatalError(
    `The data in ${directory.dbPath} have the format of MongoDB ${line}, which mongod ${mongod.version} ` +
      `(${mongod.path}) cannot open. They need mongod ${line} or the next major version. Set MONGOMS_SYSTEM_BINARY ` +
      'to such a mongod, or DATA_DIR to an empty directory.',
  );
}

/** Stores the feature compatibility version beside the data. */
export async function rememberLine(directory: DataDirectory, line: string): Promise<void> {
  if ((await fileText(directory.lineFile)) !== line) await replaceFile(directory.lineFile, `${line}\n`);
}

interface Running {
  uri: string;
  /** The process id of the service that runs the database. */
  pid: number;
}

/** Stores where the database listens, for commands that run beside the service. */
export async function announce(directory: DataDirectory, uri: string): Promise<void> {
  const running: Running = { uri, pid: ownPid() };
  await replaceFile(directory.runningFile, `${JSON.stringify(running)}\n`);
}

export async function withdraw(directory: DataDirectory): Promise<void> {
  await rm(directory.runningFile, { force: true });
}

/** The connection string of the embedded database that is running on this `DATA_DIR`; undefined if there is none. */
export async function findEmbedded(dataDir: string): Promise<string | undefined> {
  const directory = dataDirectory(await realpath(dataDir).catch(() => dataDir));
  const text = await fileText(directory.runningFile);
  if (text === undefined) return undefined;
  const { uri } = JSON.parse(text) as Running;
  return (await servesFrom(uri)) === directory.dbPath ? uri : undefined;
}

/**
 * Waits until no mongod holds the directory, because the mongod of a killed service runs a few seconds longer. Throws a
 * FatalError that names the holder if it does not exit.
 */
export async function waitUntilFree(dbPath: string, say: Say, releaseMs = RELEASE_MS): Promise<void> {
  const holder = await holderOf(dbPath);
  if (holder === undefined) return;
  say(`Waiting for an earlier mongod (process ${holder}) to release ${dbPath} …`);
  const deadline = Date.now() + releaseMs;
  while ((await holderOf(dbPath)) !== undefined) {
    if (Date.now() >= deadline) {
      throw new FatalError(
        `${dbPath} is in use by mongod (process ${holder}). Stop it or the service that started it, ` +
          'or set DATA_DIR to another directory.',
      );
    }
    await delay(POLL_MS);
  }
}

/** The name of mongod, with a version after it if any; not that of `mongodump` or of a package `mongodb`. */
const MONGOD = /mongod(?![a-z_])/i;

/**
 * The process id of the mongod that runs on the directory. A lock file is ignored if its process has ended, or is now
 * another program or the mongod of another directory.
 */
export async function holderOf(dbPath: string): Promise<number | undefined> {
  const pid = Number(await readFile(join(dbPath, 'mongod.lock'), 'utf8').catch(() => ''));
  if (!Number.isInteger(pid) || pid <= 0 || !isAlive(pid)) return undefined;
  const command = await commandOf(pid);
  const isElsewhere = command.includes('--dbpath') && !command.includes(dbPath);
  return MONGOD.test(command) && !isElsewhere ? pid : undefined;
}

function dataDirectory(home: string): DataDirectory {
  return {
    dbPath: join(home, 'mongod'),
    lineFile: join(home, 'mongod-version'),
    runningFile: join(home, 'embedded.json'),
  };
}

/** Replaces a file atomically. */
async function replaceFile(path: string, text: string): Promise<void> {
  await writeFile(`${path}.part`, text);
  await rename(`${path}.part`, path);
}

/** The text of a file; undefined if it does not exist, or if a loss of power has left it empty. */
async function fileText(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim() || undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** The data directory of the server that answers. After a crash, another mongod may use the port. */
async function servesFrom(uri: string): Promise<string | undefined> {
  const client = new mongo.MongoClient(uri, { serverSelectionTimeoutMS: ANSWER_MS });
  try {
    const options = await client.db('admin').command({ getCmdLineOpts: 1 });
    return (options as { parsed?: { storage?: { dbPath?: string } } }).parsed?.storage?.dbPath;
  } catch {
    return undefined;
  } finally {
    await client.close();
  }
}

/**
 * The command line of a process, which alone identifies mongod: process ids are reused, in containers after a short time. A
 * dead, unreaped process has no command line.
 */
async function commandOf(pid: number): Promise<string> {
  return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() =>
    runProgram('ps', ['-o', 'command=', '-p', String(pid)], 5).catch(() => ''),
  );
}
