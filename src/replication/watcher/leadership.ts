import { Injectable, Logger } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import { makeIndexes } from '../../database/index.js';
import type { WatchState } from '../mark/index.js';
import { Effects } from './effects.js';
import { IgnoredRecords } from './ignored-records.js';
import { Lease, type Progress } from './lease.js';
import { Pass } from './pass.js';
import { type Batch, HistoryLostError, openStream, presentEnd } from './source.js';

const RENEW_MS = 2000;

/** The term is over: another instance leads, or the state was taken away. */
export class TermOverError extends Error {
  constructor() {
    super('Another instance leads now');
    this.name = 'TermOverError';
  }
}

/** What a leader does for as long as its term lasts: go on from the token, or begin with a pass. */
@Injectable()
export class Leadership {
  private readonly log = new Logger('Watcher');

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly lease: Lease,
    private readonly effects: Effects,
    private readonly ignored: IgnoredRecords,
    private readonly pass: Pass,
  ) {}

  /** Ends when `stop` is aborted, or throws: TermOverError, or what the database threw. */
  async lead(client: mongo.MongoClient, state: WatchState, stop: AbortSignal): Promise<void> {
    await this.ignored.count();
    await this.go(client, state, stop).finally(() => this.ignored.reset());
  }

  private async go(client: mongo.MongoClient, state: WatchState, stop: AbortSignal): Promise<void> {
    let token = state.since === undefined ? undefined : state.token;
    while (!stop.aborted) {
      token ??= await this.begin(client, state.term, stop);
      try {
        return await this.follow(client, state.term, token, stop);
      } catch (error) {
        if (!(error instanceof HistoryLostError)) throw error;
        this.log.error(error.message);
        token = undefined;
      }
    }
  }

  /** Looks where the log stands, then passes over everything; the stream goes on from where the log stood. */
  private async begin(client: mongo.MongoClient, term: number, stop: AbortSignal): Promise<unknown> {
    this.log.log('A pass over all records begins');
    const { token, until } = await presentEnd(client, this.db(client), stop);
    await makeIndexes(this.connection);
    await this.pass.run(until, stop);
    if (!stop.aborted) await this.save(term, { token, watched: until, since: until });
    return token;
  }

  private async follow(
    client: mongo.MongoClient,
    term: number,
    token: unknown,
    stop: AbortSignal,
  ): Promise<void> {
    let savedAt = Date.now();
    for await (const batch of openStream(client, this.db(client), token, stop)) {
      if (batch.events.length > 0) await this.workThrough(term, batch);
      else if (Date.now() - savedAt > RENEW_MS) await this.save(term, progressOf(batch));
      else continue;
      savedAt = Date.now();
    }
  }

  private async workThrough(term: number, batch: Batch): Promise<void> {
    await this.effects.of(batch.events);
    const upheaval = batch.events.find((event) => event.type === 'upheaval');
    if (upheaval !== undefined) throw new HistoryLostError(upheaval.what);
    await this.save(term, progressOf(batch));
  }

  private async save(term: number, progress: Progress): Promise<void> {
    if (!(await this.lease.save(term, progress))) throw new TermOverError();
  }

  private db(client: mongo.MongoClient): mongo.Db {
    return client.db(this.connection.name);
  }
}

function progressOf({ token, until }: Batch): Progress {
  return { token, watched: until };
}
