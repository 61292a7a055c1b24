import { readKinds, recordModels } from '../../record/index.js';
import { isKind } from '../../kinds/index.js';
import { hostname, userInfo } from 'node:os';
import mongoose, { type Connection, type mongo, type Schema } from 'mongoose';
import { sessionModels } from '../console/plain.js';
import { type ChangeContext, erasureModels } from '../plain.js';
import { applicationModels } from '../../application/plain.js';
import { CREDENTIAL_MODEL, credentialSchema } from '../../auth/plain.js';
import { FatalError } from '../../platform/common/index.js';
import { databaseIn, IN_CLONE, type Settings } from '../../platform/config/plain.js';
import {
  checkServer,
  driverOptions,
  withAnyCollection,
  isUnauthorized,
  makeIndexes,
  refusalAtStart,
  stateIndexesOf,
  wrongSetAtStart,
} from '../../platform/database/plain.js';
import { findEmbedded } from '../../embedded/index.js';
import { consumerModels } from '../../replication/feed/plain.js';
import { schemaModels } from '../../replication/schema/plain.js';
import { assertFormat, storeModels } from '../../replication/store/plain.js';
import { watcherModels } from '../../replication/watcher/plain.js';
import { trailModels } from '../../trail/plain.js';
import type { Request } from './command-line.js';
import type { CommandContext, Outcome, Progress, Terminal } from './command.js';
import { progressOn } from './import/index.js';
import { isConfirmed } from './input.js';
import type { Output } from './output.js';

interface Console {
  terminal: Terminal;
  output: Output;
}

/** Runs a command with its values. The database is opened when the command first needs it, and closed at the end. */
export async function runCommand(
  { command, values, argument }: Exclude<Request, { help: unknown }>,
  readSettings: () => Settings,
  { terminal, output }: Console,
): Promise<Outcome> {
  const session = new Session(readSettings, (terminal.invocation ?? IN_CLONE).serve);
  const context: CommandContext = {
    get settings() {
      return session.settings;
    },
    terminal,
    print: (text) => output.print(text),
    confirm: (question) =>
      isConfirmed(terminal, output.isForMachines && terminal.errors.isTTY !== true ? undefined : question),
    progress: (total, unit) => progressFor({ terminal, output }, total, unit),
    embeddedUri: () => session.embeddedUri(),
    connected: () => session.connected(),
    prepared: () => session.prepared(),
  };
  try {
    // Kinds that operators created are known only after they were read from the database.
    if ('kind' in values && typeof values['kind'] === 'string' && !isKind(values['kind']))
      await session.connected();
    return await command.run(context, values, argument);
  } catch (error) {
    throw session.explained(error);
  } finally {
    await session.close();
  }
}

function progressFor({ terminal, output }: Console, total: number | undefined, unit: string): Progress {
  const shown = progressOn(terminal.errors, total, unit, output.isForMachines);
  return {
    at: (done, amount) => shown.at(done, amount),
    badLine: (line, reason) => shown.note(output.badLine(line, reason)),
    end: () => shown.end(),
  };
}

/**
 * All models of the service with their indexes, which a command may have to create if it is the first to open the
 * database, and which `check` examines.
 */
const MODELS: { name: string; schema: Schema }[] = [
  { name: CREDENTIAL_MODEL, schema: credentialSchema },
  ...applicationModels,
  ...recordModels,
  ...[...storeModels, ...schemaModels, ...watcherModels],
  ...[...trailModels, ...consumerModels, ...sessionModels, ...erasureModels],
];

/** The database of one command: opened on first use, closed at the end. */
class Session {
  private connection: Promise<Connection> | undefined;
  private known: Settings | undefined;

  constructor(
    private readonly readSettings: () => Settings,
    /** The command line that starts the service. */
    private readonly serve: string,
  ) {}

  /** Read on first use; some commands work without settings. */
  get settings(): Settings {
    return (this.known ??= this.readSettings());
  }

  connected(): Promise<Connection> {
    return (this.connection ??= this.open());
  }

  /** Connection string of the embedded database; undefined if it does not run or the settings name another database. */
  async embeddedUri(): Promise<string | undefined> {
    const { mongodbUri, dataDir } = this.settings;
    return mongodbUri === undefined ? await findEmbedded(dataDir) : undefined;
  }

  async prepared(): Promise<Connection> {
    const connection = await this.connected();
    await makeIndexes(connection);
    return connection;
  }

  /** A FatalError if the database refuses the user of MONGODB_URI or a right is missing; otherwise the error itself. */
  explained(error: unknown): unknown {
    const { mongodbUri: uri } = this.known ?? {};
    return uri === undefined ? error : refusalAtStart(error, { uri, database: databaseIn(uri) });
  }

  async close(): Promise<void> {
    await (await this.connection?.catch(() => undefined))?.close();
  }

  private async open(): Promise<Connection> {
    const uri = this.settings.mongodbUri ?? (await this.embeddedUri());
    if (uri === undefined) {
      throw new FatalError(
        `No embedded database runs on ${this.settings.dataDir}: start the service first (${this.serve}), or set MONGODB_URI.`,
      );
    }
    const options = { autoIndex: false, autoCreate: false, ...driverOptions };
    const connection = withAnyCollection(mongoose.createConnection(uri, options));
    for (const { name, schema } of MODELS) connection.model(name, schema);
    try {
      await connection.asPromise();
      await checkServer(databaseOf(connection));
      // If the user may not read the format, the error of the command says more than this one.
      await assertFormat(connection).catch((error: unknown) => {
        if (error instanceof FatalError) throw error;
      });
      await readKinds(connection).catch((error: unknown) => {
        if (!isUnauthorized(error)) throw error;
      });
      stateIndexesOf(connection);
      return connection;
    } catch (error) {
      await connection.close();
      throw await wrongSetAtStart(error, connection.getClient(), uri);
    }
  }
}

/** The context for a change by the user who runs the command. */
export function changeContextOf({ settings }: CommandContext, connection: Connection): ChangeContext {
  const actor = { who: userName(), via: 'command', from: hostname() } as const;
  return { db: databaseOf(connection), actor, auditTrailDays: settings.auditTrailDays };
}

/** Users without an entry in the system's list, as in a container, have no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'somebody';
  }
}

/** The driver's view of the database. */
export function databaseOf(connection: Connection): mongo.Db {
  return connection.getClient().db(connection.name);
}
