import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import { type Connection, STATES } from 'mongoose';
import { FatalError, pause } from '../common/index.js';
import { connectionOptions, DATABASE_URI } from './options.js';
import { makeIndexes } from './indexes.js';
import { modelsOf } from './models.js';
import { checkCollations, checkServer } from './server-check.js';

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
  private readonly log = new Logger('Preparation');
  private settle: { resolve: () => void; reject: (error: unknown) => void };
  private readonly stop = new AbortController();
  private complete = false;

  constructor(
    @InjectConnection() private readonly connection: Connection,
    @Inject(DATABASE_URI) private readonly uri: string,
  ) {
    this.done = new Promise((resolve, reject) => (this.settle = { resolve, reject }));
    this.done.catch(() => undefined);
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
        const db = this.connection.getClient().db(this.connection.name);
        await checkServer(db);
        const names = modelsOf(this.connection).map(({ collection }) => collection.collectionName);
        await checkCollations(db, names);
        await makeIndexes(this.connection);
        this.complete = true;
        this.log.log('Connected, and the indexes stand');
        return;
      } catch (error) {
        if (error instanceof FatalError) throw error;
        if (signal.aborted) return;
        this.log.warn(`The database does not answer yet: ${(error as Error).message}`);
        await pause(RETRY_MS, signal);
      }
    }
  }

  private async connected(): Promise<void> {
    if (this.connection.readyState === STATES.disconnected) {
      await this.connection.openUri(this.uri, connectionOptions);
    }
    await this.connection.asPromise();
  }
}
