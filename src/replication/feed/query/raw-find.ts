import { Inject, Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import mongoose, { type Connection, type mongo } from 'mongoose';
import { within } from '../../../platform/common/index.js';
import { SETTINGS, type Settings } from '../../../platform/config/index.js';
import {
  alongIndex,
  bareCommand,
  type IndexFields,
  isRetryable,
  SAFE_BSON,
} from '../../../platform/database/index.js';
import { type RawBatch, rawBatch, numberedIn, renamed } from '../../transcode/index.js';
import { createdKindOf } from '../../../kinds/index.js';
import { termsOf } from '../../../record/index.js';
import { ENTRIES_BY_OWNER, LEDGER, type LedgerEntry } from '../../store/index.js';
import type { Selection } from './selection.js';

/** Identifies feed queries in the profiler and in the slow query log. */
const COMMENT = 'tidemark feed';

/** Extra time, beyond `maxTimeMS`, for the database to report a timeout. */
const SPARE_MS = 2000;

/** A query. Every feed query states its index. */
export interface Find {
  collection: string;
  filter: mongo.Document;
  along: IndexFields;
  /** Bounds of the walk along the index: `min` is inclusive, `max` is exclusive. */
  min?: mongo.Document;
  max?: mongo.Document;
  sort?: mongo.Document;
  projection?: mongo.Document;
  skip?: number;
  limit: number;
  /** Documents of one reply, if fewer than `limit`; the first reply may have one more. */
  batchSize?: number;
  /** Documents of the first reply, if fewer than `batchSize`; it may have one more. */
  firstBatch?: number;
}

/**
 * The only place where the documents of pages are queried. It sends a bare command, whose reply is one buffer that is
 * not decoded.
 */
@Injectable()
export class RawFind {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** The documents that fit into one reply, up to the limit. `cursorId` is not 0 if the reply was cut off. */
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
    { collection, along: _along, limit, batchSize = limit, firstBatch = batchSize, ...asked }: Find,
    at: mongo.Timestamp,
    hint: string,
  ): mongo.Document {
    const find = inTermsOf(collection, asked);
    return {
      find: collection,
      ...find,
      hint,
      limit,
      batchSize: firstBatch + 1,
      allowDiskUse: true,
      comment: COMMENT,
      maxTimeMS: this.settings.queryMs,
      readConcern: { level: 'snapshot', atClusterTime: at },
    };
  }

  /**
   * The driver does not retry bare commands, so a command that may succeed when it is repeated is retried here once.
   */
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

  /** Closes the server's cursor if the reply was cut off, because a later read sends a new query. */
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

/** A query with the field names of its collection, which a created kind may define (contract §8). */
function inTermsOf<F extends Pick<Find, 'filter' | 'min' | 'max' | 'sort' | 'projection'>>(
  collection: string,
  find: F,
): F {
  const kind = createdKindOf(collection);
  const terms = kind === undefined ? undefined : termsOf(kind);
  if (terms === undefined) return find;
  const { filter, min, max, sort, projection } = find;
  return {
    ...find,
    filter: terms.filter(filter),
    projection: terms.projection(projection),
    ...(min && { min: terms.keys(min) }),
    ...(max && { max: terms.keys(max) }),
    ...(sort && { sort: terms.keys(sort) }),
  };
}

const { BSON } = mongoose.mongo;

/** The documents of a batch from a byte position on. */
export interface BatchPart {
  documents: Uint8Array;
  from: number;
}

/**
 * Records whose `id` is stored as a number are delivered under its decimal text (contract §4), but only if the ledger
 * knows them as a number under that text at the moment shown: another record may have the same text or number. If the
 * ledger still knows the record as one with the text, another text may have come meanwhile. The watcher re-stamps a
 * record once the ledger knows it. A consumer that is shown an earlier moment therefore receives it in the
 * next window.
 */
@Injectable()
export class NumericIdTexts {
  constructor(private readonly finds: RawFind) {}

  /**
   * The raw array of records from a position on, with numeric ids as texts, without the records that the ledger does
   * not know under their text. Takes one more read. If there are no numeric ids, returns all documents as they are,
   * without a read.
   */
  async asTexts(
    { documents, from }: BatchPart,
    { scope, kind }: Selection,
    at: mongo.Timestamp,
  ): Promise<Uint8Array> {
    const numbered = numberedIn(documents, from);
    if (numbered.length === 0) return documents;
    const known = new Set<string>();
    const find = {
      collection: LEDGER,
      filter: {
        ...{ kind, alive: true, isNumber: true, owner: { $in: numbered.map(({ _id }) => _id) } },
        ...{ ...scope, id: { $in: numbered.flatMap(({ text }) => text ?? []) } },
      },
      along: ENTRIES_BY_OWNER,
      projection: { _id: 0, owner: 1, id: 1 },
      limit: 0,
      batchSize: numbered.length,
    };
    for await (const batch of this.finds.all(find, at))
      for (const { owner, id } of Object.values(BSON.deserialize(batch.documents)) as LedgerEntry[])
        known.add(`${String(owner)} ${id}`);
    return renamed(documents, from, ({ _id, text }) => known.has(`${_id.toHexString()} ${text}`));
  }
}
