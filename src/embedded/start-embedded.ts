import { FatalError } from '../common/index.js';
import { assertOpens, type DataDirectory, openDataDirectory, rememberLine } from './data-directory.js';
import { findMongod } from './find-mongod.js';
import { freePort } from './free-port.js';
import { waitUntilFree } from './holder.js';
import { HOST, REPLICA_SET } from './mongod-arguments.js';
import type { MongodProcess, MongodSite } from './mongod-process.js';
import { becomePrimary } from './replica-set.js';
import { announce, withdraw } from './running.js';
import { reasonOf, type Say } from './say.js';
import { Supervisor } from './supervisor.js';

export interface EmbeddedOptions {
  dataDir: string;
  /** What `MONGOMS_SYSTEM_BINARY` names. */
  mongodBinary: string | undefined;
  say: Say;
  /** Called when mongod ends again and again and is given up; the service cannot go on. Without it, it is said. */
  onLost?: (error: FatalError) => void;
}

export interface EmbeddedDatabase {
  /** Connection string; the database is `tidemark`. */
  uri: string;
  /** Ends mongod in good order. */
  stop(): Promise<void>;
}

/**
 * Starts a real mongod as a replica set of one on the loopback interface, with its data in `<dataDir>/mongod`, and
 * keeps it running. What it has acknowledged survives every end of it and of this process.
 * Throws a FatalError that says what to do where it cannot start.
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

/** The library that runs mongod is loaded only now: a service on a database of its own has no use for it. */
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
