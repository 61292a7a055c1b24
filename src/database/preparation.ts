import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import { type Connection, Error as mongooseErrors, STATES } from 'mongoose';
import { FatalError, pause } from '../common/index.js';
import { connectionOptions, DATABASE_URI } from './options.js';
import { makeIndexes } from './indexes.js';
import { modelsOf, stateIndexesOf } from './listed-indexes.js';
import {
  checkServer,
  hostsIn,
  NO_PRIMARY,
  refusalAtStart,
  SILENT,
  troubleOf,
  unfitness,
  wrongSetAtStart,
} from './server-check.js';

const RETRY_MS = 1000;

/**
 * What has to be true of the database before the service can work, brought about behind the open port: a connection,
 * a server that can keep the promises, and the indexes.
 */
@Injectable()
export class Preparation implements OnApplicationBootstrap, OnModuleDestroy {
  /**
   * Resolves when the indexes stand, or the service stops before; rejects with a FatalError where an operator has to
   * help.
   */
  readonly done: Promise<void>;
  /** Resolves when the database has answered, and is one on which the service can work. */
  readonly answered: Promise<void>;
  /** What went wrong when a server was last asked, in a few words. */
  failure: string | undefined;
  private readonly log = new Logger('Preparation');
  private settle: { resolve: () => void; reject: (error: unknown) => void };
  private tellAnswered: () => void;
  private readonly stop = new AbortController();
  private complete = false;
  private told: string | undefined;
  private silence = SILENT;

  constructor(
    @InjectConnection() private readonly connection: Connection,
    @Inject(DATABASE_URI) private readonly uri: string,
  ) {
    this.done = new Promise((resolve, reject) => (this.settle = { resolve, reject }));
    this.done.catch(() => undefined);
    this.answered = new Promise((resolve) => (this.tellAnswered = resolve));
  }

  /** Why it has not answered so far, in a few words. */
  get trouble(): string {
    return this.failure ?? this.silence;
  }

  /** Where it should be. */
  get hosts(): string {
    return hostsIn(this.uri);
  }

  get isComplete(): boolean {
    return this.complete;
  }

  onApplicationBootstrap(): void {
    this.run().then(this.settle.resolve, this.settle.reject);
  }

  /** The first of the hooks: in the next one others wait for {@link done}. */
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
        const sentence = await unfitness(db, modelsOf(this.connection));
        if (sentence !== undefined) throw new FatalError(`${sentence}, then start again.`);
        this.tellAnswered();
        await makeIndexes(this.connection);
        this.complete = true;
        this.log.log('Connected, and the indexes stand');
        return;
      } catch (thrown) {
        const refusal = refusalAtStart(thrown, { uri: this.uri, database: this.connection.name });
        const error = await wrongSetAtStart(refusal, this.connection.getClient(), this.uri);
        if (error instanceof FatalError) throw error;
        if (signal.aborted) return;
        this.tell(error as Error);
        await pause(RETRY_MS, signal);
      }
    }
  }

  private async connected(): Promise<void> {
    const isClosed = this.connection.readyState === STATES.disconnected;
    const opened = isClosed
      ? this.connection.openUri(this.uri, connectionOptions)
      : this.connection.asPromise();
    this.connection
      .getClient()
      .on('serverHeartbeatFailed', ({ failure }) => (this.failure = troubleOf(failure)))
      .on('serverHeartbeatSucceeded', () => this.hear());
    await opened;
  }

  private hear(): void {
    this.failure = undefined;
    this.silence = NO_PRIMARY;
  }

  /** The same is told once, however long it lasts. That no server could be chosen says less than the heartbeats do. */
  private tell(error: Error): void {
    if (!(error instanceof mongooseErrors.MongooseServerSelectionError)) this.failure = troubleOf(error);
    if (error.message === this.told) return;
    this.told = error.message;
    this.log.warn(`The database does not answer yet: ${error.message}`);
  }
}
