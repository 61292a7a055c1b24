import { Injectable } from '@nestjs/common';
import { InjectConnection, InjectModel } from '@nestjs/mongoose';
import type { Connection, Model, mongo } from 'mongoose';
import { within } from '../../platform/common/index.js';
import { alongIndex, type IndexFields, isDuplicateKey, statedIndex } from '../../platform/database/index.js';
import { collectionOf, type Kind } from '../../kinds/index.js';
import { recordsIn, type Tenant } from '../../record/index.js';
import {
  type AppShare,
  before,
  documentsOf,
  type LogPlace,
  recordsAlong,
  type Identity,
} from '../protocol/index.js';
import { type Found, inRange, nextRange, slicesOf, RANGE_MS } from './walk.js';
import { gone, goneAmong, insertLives, mergeNews, type Piece, unknownBesideNumbers } from './learning.js';
import {
  ENTRIES_BY_IDENTITY,
  ENTRIES_BY_OWNER,
  LEDGER_MODEL,
  type LedgerEntry,
} from './collections.schema.js';

/** The server's own limit, plus time for the network and the write majority. */
const ANSWER_MS = RANGE_MS + 5000;
const BY_ID = { _id: 1 } as const;
const bounded = { maxTimeMS: RANGE_MS };
const ATTEMPTS = 3;

/**
 * A contiguous range of entries, in `_id` order or, for one application and kind, in `id` order. The ledger has no
 * index on the living entries of one application in `_id` order.
 */
export interface EntryRange extends Found {
  which: mongo.Document;
  along: IndexFields;
  /** The owner of the last entry, if that is alive. */
  owner?: mongo.ObjectId;
}

/**
 * The operations of a pass on ranges of records and ledger entries, of all applications, of some, or of one. Records
 * and entries are compared within the server; only those that a pass handles one by one are read.
 */
@Injectable()
export class LedgerSlices {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    @InjectModel(LEDGER_MODEL) private readonly entries: Model<LedgerEntry>,
  ) {}

  /** Learns the records in a range that the ledger probably does not contain yet. Four times as fast as {@link learn}. */
  async learnFirst(kind: Kind, piece: Piece, at: LogPlace): Promise<void> {
    await this.work(kind, piece, insertLives(kind, piece, at)).catch((error: unknown) => {
      if (!isDuplicateKey(error)) throw error;
      return this.learn(kind, piece, at);
    });
  }

  /**
   * Learns the records in a range as of a place in the log. Ledger knowledge of a later place is kept, and dead entries
   * stay dead. Retried if another writer learns the same records at the same time.
   */
  async learn(kind: Kind, piece: Piece, at: LogPlace): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.work(kind, piece, mergeNews(kind, piece, at));
      } catch (error) {
        if (!isDuplicateKey(error) || attempt === ATTEMPTS) throw error;
      }
    }
  }

  /**
   * The next range of entries in `_id` order, of all applications. Only the entries of the share are processed and, if
   * `kinds` is given, only those of these kinds.
   */
  async nextEntries(
    share: AppShare,
    behind: mongo.ObjectId | undefined,
    most: number,
    kinds?: readonly Kind[],
  ): Promise<EntryRange | undefined> {
    const way = { key: '_id', among: {}, along: BY_ID };
    const found = await nextRange(this.entries.collection, way, { behind, most, ...bounded });
    const ofKinds = kinds && { kind: { $in: [...kinds] } };
    return (
      found && { ...found, which: { ...documentsOf(share), ...ofKinds, _id: inRange(found) }, along: BY_ID }
    );
  }

  /**
   * The next range of entries of one application and kind, in `id` order. Starts at the first entry if the entry
   * `behind` no longer exists.
   */
  async nextOfTenant(
    { organizationid, appid }: Tenant,
    kind: Kind,
    behind: mongo.ObjectId | undefined,
    most: number,
  ): Promise<EntryRange | undefined> {
    const { collection } = this.entries;
    const last =
      behind && (await collection.findOne<LedgerEntry>({ _id: behind }, { projection: { id: 1 } }));
    const from = last ? { $gt: last.id } : { $gte: '' };
    const which = { organizationid, appid, kind };
    const stages = [
      { $match: { ...which, id: from } },
      { $sort: { id: 1 } },
      { $limit: most },
      { $group: { _id: null, count: { $sum: 1 }, last: { $last: '$$ROOT' } } },
      { $project: { count: 1, last: { _id: 1, id: 1, owner: 1 } } },
    ];
    const [found] = await alongIndex(collection, ENTRIES_BY_IDENTITY, (hint) =>
      collection.aggregate<{ count: number; last: LedgerEntry }>(stages, { ...bounded, hint }).toArray(),
    );
    if (found === undefined) return undefined;
    const {
      count,
      last: { _id: end, id, owner },
    } = found;
    const range = {
      behind,
      end,
      count,
      which: { ...which, id: { ...from, $lte: id } },
      along: ENTRIES_BY_IDENTITY,
    };
    return { ...range, ...(owner && { owner }) };
  }

  /**
   * The number of entries of an application, including dead ones. Counted in the index, within the time limit of a range.
   */
  async countOf({ organizationid, appid }: Tenant): Promise<number> {
    const hint = await statedIndex(this.entries.collection, ENTRIES_BY_IDENTITY);
    return this.entries.collection.countDocuments({ organizationid, appid }, { ...bounded, hint });
  }

  /** Marks the entries of a range as known as of a place in the log, unless they are known as of a later one. */
  async confirm({ which, along }: EntryRange, at: LogPlace): Promise<void> {
    const { collection } = this.entries;
    const confirmed = alongIndex(collection, along, (hint) =>
      collection.updateMany(
        { ...which, learned: before(at) },
        { $set: { learned: at } },
        { ...bounded, hint },
      ),
    );
    await within(ANSWER_MS, 'A range of the ledger', confirmed);
  }

  /** The dead entries of a range, slice by slice. */
  async *tombstones({ which, along }: EntryRange): AsyncGenerator<LedgerEntry[]> {
    const { collection } = this.entries;
    const hint = await statedIndex(collection, along);
    const found = collection.find<LedgerEntry>({ ...which, alive: false }, { ...bounded, hint, sort: along });
    yield* slicesOf(found, ({ id }) => id);
  }

  /** The next range of living entries of all applications, in the order of their owners. */
  nextOwners(kind: Kind, behind: mongo.ObjectId | undefined, most: number): Promise<Found | undefined> {
    const way = { key: 'owner', among: { kind, alive: true }, along: ENTRIES_BY_OWNER };
    return nextRange(this.entries.collection, way, { behind, most, ...bounded });
  }

  /** The living identities, in a range of owners, whose record is gone or has another identity, slice by slice. */
  gone(kind: Kind, piece: Piece): AsyncGenerator<Identity[]> {
    return this.identities(gone(kind, piece), ENTRIES_BY_OWNER);
  }

  /** Like {@link gone}, for a range of entries of one kind. */
  goneAmong(kind: Kind, { which, along }: EntryRange): AsyncGenerator<Identity[]> {
    return this.identities(goneAmong(kind, { ...which, alive: true }), along);
  }

  /**
   * Records in a range that own no entry, possibly because a record with a numeric `id` is known under the same text,
   * slice by slice.
   */
  async *besideNumbers(kind: Kind, piece: Piece): AsyncGenerator<(Identity & { owner: mongo.ObjectId })[]> {
    const records = recordsIn(this.connection, kind);
    const found = records.aggregate<Identity & { owner: mongo.ObjectId }>(unknownBesideNumbers(kind, piece), {
      ...bounded,
      hint: await statedIndex(records, recordsAlong(piece.share)),
      allowDiskUse: true,
    });
    yield* slicesOf(found, ({ id }) => id);
  }

  private async *identities(stages: mongo.Document[], along: IndexFields): AsyncGenerator<Identity[]> {
    const { collection } = this.entries;
    const hint = await statedIndex(collection, along);
    const found = collection.aggregate<Identity>(stages, { ...bounded, hint, allowDiskUse: true });
    yield* slicesOf(found, ({ id }) => id);
  }

  private async work(kind: Kind, { share }: Piece, stages: mongo.Document[]): Promise<void> {
    const records = recordsIn(this.connection, kind);
    const learned = alongIndex(records, recordsAlong(share), (hint) =>
      records.aggregate(stages, { ...bounded, hint, allowDiskUse: true }).toArray(),
    );
    await within(ANSWER_MS, `Learning ${collectionOf(kind)}`, learned);
  }
}
