import { Injectable } from '@nestjs/common';
import { InjectConnection, InjectModel } from '@nestjs/mongoose';
import type { Connection, Model, mongo } from 'mongoose';
import { within } from '../../common/index.js';
import { alongIndex, type IndexFields, isDuplicateKey, statedIndex } from '../../database/index.js';
import { COLLECTION_OF, type Kind, type Tenant } from '../../record/index.js';
import {
  type AppShare,
  before,
  documentsOf,
  type LogPlace,
  recordsAlong,
  type Identity,
} from '../protocol/index.js';
import { type Found, inStretch, nextStretch, slicesOf, STRETCH_MS } from './walk.js';
import { gone, goneAmong, insertLives, mergeNews, type Piece, unknownBesideNumbers } from './learning.js';
import { LEDGER_MODEL, type LedgerEntry } from './collections.schema.js';

/** Behind the server's own limit there is the way there and back, and the majority. */
const ANSWER_MS = STRETCH_MS + 5000;
const BY_OWNER = { kind: 1, owner: 1, _id: 1 } as const;
const BY_IDENTITY = { organizationid: 1, appid: 1, kind: 1, id: 1 } as const;
const BY_ID = { _id: 1 } as const;
const bounded = { maxTimeMS: STRETCH_MS };
const ATTEMPTS = 3;

/**
 * Entries that stand side by side: in the order of their `_id`, or, of one application and kind, in that of their `id`. The ledger has no
 * index that would lead through the living entries of one application by their `_id`.
 */
export interface EntryStretch extends Found {
  which: mongo.Document;
  along: IndexFields;
  /** The record that the last of them is alive with. */
  owner?: mongo.ObjectId;
}

/** What a pass does with whole stretches of records and of the ledger, each within the server: of all applications, of some, or of one. */
@Injectable()
export class LedgerSlices {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    @InjectModel(LEDGER_MODEL) private readonly entries: Model<LedgerEntry>,
  ) {}

  /** Learns the records of a stretch, of which the ledger probably has none: four times as fast as {@link learn}. */
  async learnFirst(kind: Kind, piece: Piece, at: LogPlace): Promise<void> {
    await this.work(kind, piece, insertLives(kind, piece, at)).catch((error: unknown) => {
      if (!isDuplicateKey(error)) throw error;
      return this.learn(kind, piece, at);
    });
  }

  /**
   * Learns the records of a stretch as of a place in the log; what the ledger knows of a later one stays, and what is
   * dead stays dead. Where somebody else learns the same at the same time, it is tried again.
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

  /** The next entries, in the order of their `_id`: of all applications, of which those of a share are worked at. */
  async nextEntries(
    share: AppShare,
    behind: mongo.ObjectId | undefined,
    most: number,
  ): Promise<EntryStretch | undefined> {
    const way = { key: '_id', among: {}, along: BY_ID };
    const found = await nextStretch(this.entries.collection, way, { behind, most, ...bounded });
    return found && { ...found, which: { ...documentsOf(share), _id: inStretch(found) }, along: BY_ID };
  }

  /** The next entries of one application and kind, in the order of their `id`. From the first on if the one before them is not there any more. */
  async nextOfTenant(
    { organizationid, appid }: Tenant,
    kind: Kind,
    behind: mongo.ObjectId | undefined,
    most: number,
  ): Promise<EntryStretch | undefined> {
    const { collection } = this.entries;
    const before =
      behind && (await collection.findOne<LedgerEntry>({ _id: behind }, { projection: { id: 1 } }));
    const from = before ? { $gt: before.id } : { $gte: '' };
    const which = { organizationid, appid, kind };
    const stages = [
      { $match: { ...which, id: from } },
      { $sort: { id: 1 } },
      { $limit: most },
      { $group: { _id: null, count: { $sum: 1 }, last: { $last: '$$ROOT' } } },
      { $project: { count: 1, last: { _id: 1, id: 1, owner: 1 } } },
    ];
    const [found] = await alongIndex(collection, BY_IDENTITY, (hint) =>
      collection.aggregate<{ count: number; last: LedgerEntry }>(stages, { ...bounded, hint }).toArray(),
    );
    if (found === undefined) return undefined;
    const {
      count,
      last: { _id: end, id, owner },
    } = found;
    const stretch = {
      behind,
      end,
      count,
      which: { ...which, id: { ...from, $lte: id } },
      along: BY_IDENTITY,
    };
    return { ...stretch, ...(owner && { owner }) };
  }

  /** How many entries an application has, dead ones included: along the index, and not for longer than a stretch may take. */
  async countOf({ organizationid, appid }: Tenant): Promise<number> {
    const hint = await statedIndex(this.entries.collection, BY_IDENTITY);
    return this.entries.collection.countDocuments({ organizationid, appid }, { ...bounded, hint });
  }

  /** What the entries of a stretch say is known as of a place in the log, unless it is known of a later one. */
  async confirm({ which, along }: EntryStretch, at: LogPlace): Promise<void> {
    const { collection } = this.entries;
    const confirmed = alongIndex(collection, along, (hint) =>
      collection.updateMany(
        { ...which, learned: before(at) },
        { $set: { learned: at } },
        { ...bounded, hint },
      ),
    );
    await within(ANSWER_MS, 'A stretch of the ledger', confirmed);
  }

  /** The dead entries of a stretch, slice by slice. */
  async *tombstones({ which, along }: EntryStretch): AsyncGenerator<LedgerEntry[]> {
    const { collection } = this.entries;
    const hint = await statedIndex(collection, along);
    const found = collection.find<LedgerEntry>({ ...which, alive: false }, { ...bounded, hint, sort: along });
    yield* slicesOf(found, ({ id }) => id);
  }

  /** The next stretch of living entries of all applications, in the order of their owners. */
  nextOwners(kind: Kind, behind: mongo.ObjectId | undefined, most: number): Promise<Found | undefined> {
    const way = { key: 'owner', among: { kind, alive: true }, along: BY_OWNER };
    return nextStretch(this.entries.collection, way, { behind, most, ...bounded });
  }

  /** The living identities of a stretch of owners whose record is gone or has become another one, slice by slice. */
  gone(kind: Kind, piece: Piece): AsyncGenerator<Identity[]> {
    return this.identities(gone(kind, piece), BY_OWNER);
  }

  /** The same of a stretch of entries of one kind. */
  goneAmong(kind: Kind, { which, along }: EntryStretch): AsyncGenerator<Identity[]> {
    return this.identities(goneAmong(kind, { ...which, alive: true }), along);
  }

  /** Records of a stretch that own no entry, since a number may be known under their text, slice by slice. */
  async *besideNumbers(kind: Kind, piece: Piece): AsyncGenerator<(Identity & { owner: mongo.ObjectId })[]> {
    const records = this.connection.collection(COLLECTION_OF[kind]);
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
    const records = this.connection.collection(COLLECTION_OF[kind]);
    const learned = alongIndex(records, recordsAlong(share), (hint) =>
      records.aggregate(stages, { ...bounded, hint, allowDiskUse: true }).toArray(),
    );
    await within(ANSWER_MS, `Learning ${COLLECTION_OF[kind]}`, learned);
  }
}
