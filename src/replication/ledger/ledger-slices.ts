import { Injectable } from '@nestjs/common';
import { InjectConnection, InjectModel } from '@nestjs/mongoose';
import type { Connection, Model, mongo } from 'mongoose';
import { within } from '../../common/index.js';
import { isDuplicateKey, statedIndex } from '../../database/index.js';
import { COLLECTION_OF, type Kind } from '../../record/index.js';
import { before, type LogPlace } from '../progress/index.js';
import { type Found, inStretch, nextStretch, slicesOf, type Stretch, STRETCH_MS } from '../walk/index.js';
import type { Identity } from './identity.js';
import { gone, insertLives, mergeNews, unknownBesideNumbers } from './learning.js';
import { LEDGER_MODEL, type LedgerEntry } from './ledger.schema.js';

/** Behind the server's own limit there is the way there and back, and the majority. */
const ANSWER_MS = STRETCH_MS + 5000;
const BY_OWNER = { kind: 1, owner: 1, _id: 1 } as const;
const BY_ID = { _id: 1 } as const;
const bounded = { maxTimeMS: STRETCH_MS };
const ATTEMPTS = 3;

/** What a pass does with whole stretches of the ledger, each within the server. */
@Injectable()
export class LedgerSlices {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    @InjectModel(LEDGER_MODEL) private readonly entries: Model<LedgerEntry>,
  ) {}

  /** Learns the records of a stretch, of which the ledger probably has none: four times as fast as {@link learn}. */
  async learnFirst(kind: Kind, stretch: Stretch, at: LogPlace): Promise<void> {
    await this.work(kind, insertLives(kind, stretch, at)).catch((error: unknown) => {
      if (!isDuplicateKey(error)) throw error;
      return this.learn(kind, stretch, at);
    });
  }

  /**
   * Learns the records of a stretch as of a place in the log; what the ledger knows of a later one stays, and what is
   * dead stays dead. Where somebody else learns the same at the same time, it is tried again.
   */
  async learn(kind: Kind, stretch: Stretch, at: LogPlace): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.work(kind, mergeNews(kind, stretch, at));
      } catch (error) {
        if (!isDuplicateKey(error) || attempt === ATTEMPTS) throw error;
      }
    }
  }

  /** What the entries of a stretch say is known as of a place in the log, unless it is known of a later one. */
  async confirm(stretch: Stretch, at: LogPlace): Promise<void> {
    const update = this.entries.collection.updateMany(
      { _id: inStretch(stretch), learned: before(at) },
      { $set: { learned: at } },
      { ...bounded, hint: BY_ID },
    );
    await within(ANSWER_MS, 'A stretch of the ledger', update);
  }

  nextEntries(behind: mongo.ObjectId | undefined, most: number): Promise<Found | undefined> {
    const way = { key: '_id', among: {}, along: BY_ID };
    return nextStretch(this.entries.collection, way, { behind, most, ...bounded });
  }

  /** The next stretch of living entries, in the order of their owners. */
  nextOwners(kind: Kind, behind: mongo.ObjectId | undefined, most: number): Promise<Found | undefined> {
    const way = { key: 'owner', among: { kind, alive: true }, along: BY_OWNER };
    return nextStretch(this.entries.collection, way, { behind, most, ...bounded });
  }

  /** The dead entries of a stretch, slice by slice. */
  tombstones(stretch: Stretch): AsyncGenerator<LedgerEntry[]> {
    const found = this.entries.collection.find<LedgerEntry>(
      { _id: inStretch(stretch), alive: false },
      { ...bounded, hint: BY_ID, sort: BY_ID },
    );
    return slicesOf(found, ({ id }) => id);
  }

  /** The living identities of a stretch of owners whose record is gone or has become another one, slice by slice. */
  async *gone(kind: Kind, stretch: Stretch): AsyncGenerator<Identity[]> {
    const found = this.entries.collection.aggregate<Identity>(gone(kind, stretch), {
      ...bounded,
      hint: await statedIndex(this.entries.collection, BY_OWNER),
      allowDiskUse: true,
    });
    yield* slicesOf(found, ({ id }) => id);
  }

  /** Records of a stretch that own no entry, since a number may be known under their text, slice by slice. */
  besideNumbers(kind: Kind, stretch: Stretch): AsyncGenerator<(Identity & { owner: mongo.ObjectId })[]> {
    const found = this.connection
      .collection(COLLECTION_OF[kind])
      .aggregate<Identity & { owner: mongo.ObjectId }>(unknownBesideNumbers(kind, stretch), {
        ...bounded,
        hint: BY_ID,
        allowDiskUse: true,
      });
    return slicesOf(found, ({ id }) => id);
  }

  private async work(kind: Kind, stages: mongo.Document[]): Promise<void> {
    const records = this.connection.collection(COLLECTION_OF[kind]);
    const learned = records.aggregate(stages, { ...bounded, hint: BY_ID, allowDiskUse: true }).toArray();
    await within(ANSWER_MS, `Learning ${COLLECTION_OF[kind]}`, learned);
  }
}
