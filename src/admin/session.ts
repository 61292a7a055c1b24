import { hostname, userInfo } from 'node:os';
import { type DynamicModule, type INestApplicationContext, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { getConnectionToken, MongooseModule } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import type { Desk } from '../administration/index.js';
import { ApplicationModule } from '../application/index.js';
import { CREDENTIAL_MODEL, credentialSchema } from '../auth/index.js';
import { FatalError } from '../common/index.js';
import { ConfigModule, databaseIn, type Settings } from '../config/index.js';
import {
  checkServer,
  driverOptions,
  makeIndexes,
  refusalAtStart,
  stateIndexesOf,
  wrongSetAtStart,
} from '../database/index.js';
import { findEmbedded } from '../embedded/index.js';
import { MemberModule } from '../member/index.js';
import { CommonModule } from '../observability/index.js';
import { ProductModule } from '../product/index.js';
import { FiltersModule } from '../replication/filters/index.js';
import { LedgerModule } from '../replication/ledger/index.js';
import { MarkModule } from '../replication/mark/index.js';
import { QuarantineModule } from '../replication/quarantine/index.js';
import { RepairModule } from '../replication/repair/index.js';
import { UpkeepModule } from '../replication/upkeep/index.js';
import type { CommandContext } from './command.js';

/**
 * The rooms whose models a command may need, without what makes them a service. The module of credentials is left out:
 * it would take over the logins of a service in the same process, since Passport keeps its strategies for the process.
 */
@Module({})
class CommandModule {
  static on(settings: Settings, uri: string): DynamicModule {
    return {
      module: CommandModule,
      imports: [
        ConfigModule.with(settings),
        CommonModule.with({ ...settings, logLevel: 'silent' }),
        MongooseModule.forRootAsync({
          useFactory: () => ({
            uri,
            lazyConnection: true,
            autoIndex: false,
            autoCreate: false,
            ...driverOptions,
          }),
        }),
        MongooseModule.forFeature([{ name: CREDENTIAL_MODEL, schema: credentialSchema }]),
        ApplicationModule,
        MemberModule,
        ProductModule,
        FiltersModule,
        LedgerModule,
        MarkModule,
        QuarantineModule,
        RepairModule,
        UpkeepModule,
      ],
    };
  }
}

/** The database of one command: opened when it is first asked for, closed at the end. */
export class Session {
  private context: Promise<INestApplicationContext> | undefined;
  private known: Settings | undefined;

  constructor(private readonly readSettings: () => Settings) {}

  /** Read when they are first asked for; some commands work without them. */
  get settings(): Settings {
    return (this.known ??= this.readSettings());
  }

  async connected(): Promise<Connection> {
    this.context ??= this.open();
    return (await this.context).get<Connection>(getConnectionToken());
  }

  /** Connection string of the embedded database, unless the settings name another. */
  async embeddedUri(): Promise<string | undefined> {
    const { mongodbUri, dataDir } = this.settings;
    return mongodbUri === undefined ? await findEmbedded(dataDir) : undefined;
  }

  async prepared(): Promise<Connection> {
    const connection = await this.connected();
    await makeIndexes(connection);
    return connection;
  }

  /** A FatalError where the database refuses whom MONGODB_URI names; else the error itself. */
  explained(error: unknown): unknown {
    const { mongodbUri: uri } = this.known ?? {};
    return uri === undefined ? error : refusalAtStart(error, { uri, database: databaseIn(uri) });
  }

  async close(): Promise<void> {
    await (await this.context?.catch(() => undefined))?.close();
  }

  private async open(): Promise<INestApplicationContext> {
    const uri = this.settings.mongodbUri ?? (await this.embeddedUri());
    if (uri === undefined) {
      throw new FatalError(
        `No embedded database runs on ${this.settings.dataDir}: start the service first (npm start), or set MONGODB_URI.`,
      );
    }
    const context = await NestFactory.createApplicationContext(CommandModule.on(this.settings, uri), {
      logger: false,
      abortOnError: false,
    });
    try {
      const connection = await context.get<Connection>(getConnectionToken()).asPromise();
      await checkServer(databaseOf(connection));
      stateIndexesOf(connection);
      return context;
    } catch (error) {
      await context.close();
      throw await wrongSetAtStart(error, uri);
    }
  }
}

/** The database, for a change by the user who runs the command. */
export function deskOn({ settings }: CommandContext, connection: Connection): Desk {
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
