import { Inject, Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import { within } from '../../../common/index.js';
import { SETTINGS, type Settings } from '../../../config/index.js';
import {
  alongIndex,
  bareCommand,
  type IndexFields,
  isRetryable,
  SAFE_BSON,
} from '../../../database/index.js';
import { type RawBatch, rawBatch } from '../transcode/index.js';

/** Tells operators who asks, in the profiler and the slow query log. */
const COMMENT = 'tidemark feed';

/** The database has its own `maxTimeMS`, and so much longer to say that it is over. */
const SPARE_MS = 2000;

/** What is asked for. Every feed query states the index that it goes along. */
export interface Find {
  collection: string;
  filter: mongo.Document;
  along: IndexFields;
  /** Where the walk along the index begins, and before what it ends. */
  min?: mongo.Document;
  max?: mongo.Document;
  sort?: mongo.Document;
  projection?: mongo.Document;
  skip?: number;
  limit: number;
  /** Documents of one reply, where that is fewer than `limit`. */
  batchSize?: number;
}

/** The only place where feeds query the database: a bare command, whose reply is one buffer that is not decoded. */
@Injectable()
export class RawFind {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** As many documents as one reply holds, up to the limit. `cursorId` is not 0 where the reply was cut off. */
  async first(find: Find, at: mongo.Timestamp): Promise<RawBatch> {
    const batch = await this.ask(find, at);
    await this.close(find, batch);
    return batch;
  }

  /** All documents, reply by reply. */
  async *all(find: Find, at: mongo.Timestamp): AsyncGenerator<RawBatch, void> {
    const session = this.connection.getClient().startSession({ causalConsistency: false });
    let batch: RawBatch | undefined;
    try {
      batch = await this.ask(find, at, session);
      for (;;) {
        yield batch;
        if (batch.cursorId === 0n) return;
        const { collection, batchSize } = find;
        batch = await this.run({ getMore: batch.cursorId, collection, batchSize }, session);
      }
    } finally {
      if (batch !== undefined) await this.close(find, batch, session);
      await session.endSession();
    }
  }

  aboutHowMany(collection: string): Promise<number> {
    return this.connection.collection(collection).estimatedDocumentCount();
  }

  private command(
    { collection, along: _along, limit, batchSize = limit, ...find }: Find,
    at: mongo.Timestamp,
    hint: string,
  ): mongo.Document {
    return {
      find: collection,
      ...find,
      hint,
      limit,
      batchSize: batchSize + 1,
      allowDiskUse: true,
      comment: COMMENT,
      maxTimeMS: this.settings.queryMs,
      readConcern: { level: 'snapshot', atClusterTime: at },
    };
  }

  /** The driver repeats no bare command, so one that never came to an answer is repeated here, once. */
  private ask(find: Find, at: mongo.Timestamp, session?: mongo.ClientSession): Promise<RawBatch> {
    return alongIndex(this.connection.collection(find.collection), find.along, (hint) => {
      const command = this.command(find, at, hint);
      return this.run(command, session).catch((error: unknown) => {
        if (!isRetryable(error)) throw error;
        return this.run(command, session);
      });
    });
  }

  private async run(command: mongo.Document, session?: mongo.ClientSession): Promise<RawBatch> {
    const reply = await bareCommand(this.connection.db!, command, {
      ...SAFE_BSON,
      raw: true,
      readPreference: 'primary',
      within: this.settings.queryMs + SPARE_MS,
      ...(session && { session }),
    });
    return rawBatch(reply['cursor'] as Uint8Array);
  }

  /** Where a reply was cut off, the reading goes on with a query of its own, so nobody holds the server's cursor. */
  private async close(
    { collection }: Find,
    { cursorId }: RawBatch,
    session?: mongo.ClientSession,
  ): Promise<void> {
    if (cursorId === 0n) return;
    const close = { killCursors: collection, cursors: [cursorId] };
    const closed = this.connection.db!.command(close, { ...(session && { session }) }).catch(() => undefined);
    await within(SPARE_MS, 'The end of a cursor', closed).catch(() => undefined);
  }
}
