import { mkdir, readFile, realpath, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FatalError } from '../common/index.js';
import type { FoundMongod } from './find-mongod.js';
import { opensData } from './versions.js';

/** The parts of `DATA_DIR` that belong to the embedded database. */
export interface DataDirectory {
  /** The files of mongod. */
  dbPath: string;
  /** Holds the feature compatibility version of those files, such as `6.0`. */
  lineFile: string;
  /** Says where the database listens while it runs. */
  runningFile: string;
}

export async function openDataDirectory(dataDir: string): Promise<DataDirectory> {
  try {
    await mkdir(join(dataDir, 'mongod'), { recursive: true, mode: 0o700 });
    const home = await realpath(dataDir);
    return dataDirectory(home);
  } catch (error) {
    throw new FatalError(
      `DATA_DIR ${dataDir} cannot be used: ${(error as Error).message}. Set it to a directory of yours.`,
    );
  }
}

export function dataDirectory(home: string): DataDirectory {
  return {
    dbPath: join(home, 'mongod'),
    lineFile: join(home, 'mongod-version'),
    runningFile: join(home, 'embedded.json'),
  };
}

/** Stops before a mongod of another line spoils the data or fails on them with a riddle. */
export async function assertOpens(directory: DataDirectory, mongod: FoundMongod): Promise<void> {
  const line = await textOf(directory.lineFile);
  if (line === undefined || opensData(mongod.version, line)) return;
  throw new FatalError(
    `The data in ${directory.dbPath} are of MongoDB ${line}, which mongod ${mongod.version} (${mongod.path}) does not ` +
      `open: it needs a mongod ${line} or of the next major version. Set MONGOMS_SYSTEM_BINARY to one, or DATA_DIR ` +
      'to an empty directory.',
  );
}

/** Keeps the feature compatibility version beside the data. */
export async function rememberLine(directory: DataDirectory, line: string): Promise<void> {
  if ((await textOf(directory.lineFile)) !== line) await replaceFile(directory.lineFile, `${line}\n`);
}

/** Writes a file so that it is never seen half-written. */
export async function replaceFile(path: string, text: string): Promise<void> {
  await writeFile(`${path}.part`, text);
  await rename(`${path}.part`, path);
}

export async function textOf(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
