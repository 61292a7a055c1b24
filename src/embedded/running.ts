import { realpath, rm } from 'node:fs/promises';
import { mongo } from 'mongoose';
import { ownPid } from '../config/plain.js';
import { type DataDirectory, dataDirectory, replaceFile, textOf } from './data-directory.js';

const PATIENCE_MS = 3000;

interface Running {
  uri: string;
  /** The service that the database belongs to. */
  pid: number;
}

/** Leaves a note of where the database listens, for commands beside the service. */
export async function announce(directory: DataDirectory, uri: string): Promise<void> {
  const running: Running = { uri, pid: ownPid() };
  await replaceFile(directory.runningFile, `${JSON.stringify(running)}\n`);
}

export async function withdraw(directory: DataDirectory): Promise<void> {
  await rm(directory.runningFile, { force: true });
}

/** The connection string of the embedded database that runs on this `DATA_DIR` now, if one does. */
export async function findEmbedded(dataDir: string): Promise<string | undefined> {
  const directory = dataDirectory(await realpath(dataDir).catch(() => dataDir));
  const text = await textOf(directory.runningFile);
  if (text === undefined) return undefined;
  const { uri } = JSON.parse(text) as Running;
  return (await servesFrom(uri)) === directory.dbPath ? uri : undefined;
}

/** The data directory of the server that answers: after a crash another mongod may have the port. */
async function servesFrom(uri: string): Promise<string | undefined> {
  const client = new mongo.MongoClient(uri, { serverSelectionTimeoutMS: PATIENCE_MS });
  try {
    const options = await client.db('admin').command({ getCmdLineOpts: 1 });
    return (options as { parsed?: { storage?: { dbPath?: string } } }).parsed?.storage?.dbPath;
  } catch {
    return undefined;
  } finally {
    await client.close();
  }
}
