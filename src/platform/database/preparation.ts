import {
  Injectable,
  Logger,
  Inject,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  type DynamicModule,
  Global,
  Module,
} from '@nestjs/common';
import { InjectConnection, MongooseModule, type MongooseModuleFactoryOptions } from '@nestjs/mongoose';
import { type Connection, Error as mongooseErrors, type mongo, STATES } from 'mongoose';
import { makeIndexes } from './indexes.js';
import { modelsOf, stateIndexesOf } from './listed-indexes.js';
import {
  unfitness,
  checkServer,
  hostsIn,
  NO_PRIMARY,
  refusalAtStart,
  SILENT,
  troubleOf,
  troubleOfCommand,
  wrongSetAtStart,
} from './server-check.js';
import { FatalError, pause } from '../common/index.js';
import { Tracing } from '../observability/index.js';
import { connectionOptions, DATABASE_URI, closeDriverGaps, withAnyCollection } from './options.js';
import { namedRights, tryRights } from './rights.js';
import { IndexKeeper } from './index-keeper.js';

const RETRY_MS = 1000;

/**
 * Establishes the preconditions of the service while its port is already open: a connection, a server on which the
 * service can keep its promises, and the indexes.
 */
@Injectable()
export class Preparation implements OnApplicationBootstrap, OnModuleDestroy {
  /**
   * Resolves when the indexes exist, or when the service stops first. Rejects with a FatalError if an operator has to
   * act.
   */
  readonly done: Promise<void>;
  /** Resolves when the database has answered and is fit for the service. */
  readonly answered: Promise<void>;
  /** The last failure of a request to the database, in a few words; undefined after a successful heartbeat. */
  failure: string | undefined;
  private readonly log = new Logger('Preparation');
  private settle: { resolve: () => void; reject: (error: unknown) => void };
  private resolveAnswered: () => void;
  private readonly stop = new AbortController();
  private complete = false;
  private logged: string | undefined;
  private silence = SILENT;
  private followed: mongo.MongoClient | undefined;
  private readonly requirements: (() => Promise<void>)[] = [];

  constructor(
    @InjectConnection() private readonly connection: Connection,
    @Inject(DATABASE_URI) private readonly uri: string,
    private readonly tracing: Tracing,
  ) {
    this.done = new Promise((resolve, reject) => (this.settle = { resolve, reject }));
    this.done.catch(() => undefined);
    this.answered = new Promise((resolve) => (this.resolveAnswered = resolve));
  }

  /** Adds a check that runs before anything is written. It must throw a FatalError if an operator has to act. */
  require(check: () => Promise<void>): void {
    this.requirements.push(check);
  }

  /** Why the database has not answered so far, in a few words. */
  get trouble(): string {
    return this.failure ?? this.silence;
  }

  /** The hosts of the database. */
  get hosts(): string {
    return hostsIn(this.uri);
  }

  get isComplete(): boolean {
    return this.complete;
  }

  onApplicationBootstrap(): void {
    this.run().then(this.settle.resolve, this.settle.reject);
  }

  /** This is the first shutdown hook. In the next one, other components wait for {@link done}. */
  onModuleDestroy(): void {
    this.stop.abort();
  }

  private async run(): Promise<void> {
    const { signal } = this.stop;
    while (!signal.aborted) {
      try {
        await this.connected();
        stateIndexesOf(this.connection);
        const db = this.connection.getClient().db(this.connection.name);
        await checkServer(db);
        const models = modelsOf(this.connection);
        const sentence = await unfitness(db, models);
        if (sentence !== undefined) throw new FatalError(`${sentence}, then start again.`);
        await tryRights(db, models[0]!.collection.collectionName);
        for (const check of this.requirements) await check();
        this.resolveAnswered();
        await makeIndexes(this.connection);
        this.complete = true;
        this.log.log('Connected, and the indexes exist');
        return;
      } catch (thrown) {
        const named = await namedRights(thrown, this.connection);
        const refusal = refusalAtStart(named, { uri: this.uri, database: this.connection.name });
        const error = await wrongSetAtStart(refusal, this.connection.getClient(), this.uri);
        if (error instanceof FatalError) throw error;
        if (signal.aborted) return;
        this.logTrouble(error as Error);
        await pause(RETRY_MS, signal);
      }
    }
  }

  private async connected(): Promise<void> {
    const isClosed = this.connection.readyState === STATES.disconnected;
    const opened = isClosed
      ? this.connection.openUri(this.uri, { ...connectionOptions, monitorCommands: this.tracing.isOn })
      : this.connection.asPromise();
    this.follow(this.connection.getClient());
    await opened;
  }

  /** Listens to a client once, however often the preparation is repeated on it. */
  private follow(client: mongo.MongoClient): void {
    if (client === this.followed) return;
    this.followed = client;
    this.tracing.follow(client);
    client
      .on('serverHeartbeatFailed', ({ failure }) => (this.failure = troubleOf(failure)))
      .on('serverHeartbeatSucceeded', () => this.hear());
  }

  private hear(): void {
    this.failure = undefined;
    this.silence = NO_PRIMARY;
  }

  /**
   * Logs an error, unless it is the same as the last one. A failed server selection says less than the failed
   * heartbeats, so it does not replace their message.
   */
  private logTrouble(error: Error): void {
    if (!(error instanceof mongooseErrors.MongooseServerSelectionError)) this.failure = troubleOf(error);
    if (error.message === this.logged) return;
    this.logged = error.message;
    this.log.warn(`The database does not answer yet: ${troubleOfCommand(error)}`);
  }
}

@Global()
@Module({})
export class DatabaseModule {
  static at(uri: string): DynamicModule {
    closeDriverGaps();
    return {
      module: DatabaseModule,
      imports: [
        MongooseModule.forRootAsync({
          inject: [Tracing],
          useFactory: (tracing: Tracing) => lazily(uri, tracing),
        }),
      ],
      providers: [Preparation, IndexKeeper, { provide: DATABASE_URI, useValue: uri }],
      exports: [Preparation, IndexKeeper, DATABASE_URI],
    };
  }
}

/** The port is opened before the database answers, so the preparation opens the connection and waits for it. */
function lazily(uri: string, { isOn }: Tracing): MongooseModuleFactoryOptions {
  return {
    ...{ uri, lazyConnection: true, connectionFactory: withAnyCollection },
    ...connectionOptions,
    ...(isOn && { monitorCommands: true }),
  };
}
