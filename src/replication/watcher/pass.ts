import { Injectable, Logger } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import { type Connection, mongo } from 'mongoose';
import { COLLECTION_OF, type Kind, KINDS } from '../../record/index.js';
import { type Identity, identityKey, Ledger, type LedgerEntry, type Life, Strays } from '../ledger/index.js';
import { Effects } from './effects.js';
import { PRESENT, type PresentRecord } from './mending.js';
import { identityOf, textsOf } from './rules.js';

const BATCH = 1000;
const FIRST_ID = new mongo.ObjectId('000000000000000000000000');

/**
 * The pass over everything that is there (design §3): learns every record, mends what is to mend, then every living
 * ledger entry without its record is a delete. All of it is knowledge of the time at which the new stream was opened,
 * so that what the stream tells afterwards overrides it.
 */
@Injectable()
export class Pass {
  private readonly log = new Logger('Watcher');

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly ledger: Ledger,
    private readonly strays: Strays,
    private readonly effects: Effects,
  ) {}

  async run(at: mongo.Timestamp, stop: AbortSignal): Promise<void> {
    for (const kind of KINDS) {
      const records = await this.learnRecords(kind, at, stop);
      const deletes = await this.findDeletes(kind, at, stop);
      this.log.log(`Pass over ${COLLECTION_OF[kind]}: ${records} records, ${deletes} deletes`);
    }
  }

  private async learnRecords(kind: Kind, at: mongo.Timestamp, stop: AbortSignal): Promise<number> {
    let count = 0;
    for (let behind: mongo.ObjectId | undefined; !stop.aborted;) {
      const records = await this.standing(kind, behind === undefined ? { $gte: FIRST_ID } : { $gt: behind });
      const last = records.at(-1);
      if (last === undefined) break;
      await Promise.all([
        this.learnLives(kind, records, at),
        this.keepStrays(kind, records),
        this.effects.lookAfter(kind, { records, at }),
      ]);
      behind = last._id;
      count += records.length;
    }
    return count;
  }

  private async learnLives(kind: Kind, records: PresentRecord[], at: mongo.Timestamp): Promise<void> {
    const lives = records.flatMap((record) => lifeOf(kind, record, at));
    const owners = lives.map(({ owner }) => owner);
    const known = new Set((await this.ledger.ownedBy(kind, owners)).map(lifeKey));
    const news = lives.filter(({ identity, owner }) => !known.has(lifeKey({ ...identity, owner })));
    await this.ledger.learn(news);
  }

  private async keepStrays(kind: Kind, records: PresentRecord[]): Promise<void> {
    const incomplete = records.filter((record) => identityOf(kind, record._id, record) === undefined);
    await this.strays.keep(
      kind,
      incomplete.map((record) => ({ owner: record._id, partial: textsOf(record) })),
    );
  }

  private async findDeletes(kind: Kind, at: mongo.Timestamp, stop: AbortSignal): Promise<number> {
    let count = 0;
    for (let behind: LedgerEntry | undefined; !stop.aborted;) {
      const living = await this.ledger.living(kind, behind, BATCH);
      if (living.length === 0) break;
      const gone = await this.withoutRecord(kind, living);
      await this.ledger.learn(
        gone.map((identity) => ({ identity, at, alive: false as const, shortLived: false })),
      );
      behind = living.at(-1);
      count += gone.length;
    }
    return count;
  }

  private async withoutRecord(kind: Kind, living: LedgerEntry[]): Promise<LedgerEntry[]> {
    const records = await this.standing(kind, { $in: living.map((entry) => entry.owner) });
    const identities = records.flatMap((record) => identityOf(kind, record._id, record) ?? []);
    const standing = new Set(identities.map(identityKey));
    return living.filter((entry) => !standing.has(identityKey(entry)));
  }

  private standing(kind: Kind, _id: mongo.Document): Promise<PresentRecord[]> {
    return this.connection
      .collection(COLLECTION_OF[kind])
      .aggregate<PresentRecord>([
        { $match: { _id } },
        { $sort: { _id: 1 } },
        { $limit: BATCH },
        { $project: PRESENT },
      ])
      .toArray();
  }
}

function lifeOf(kind: Kind, record: PresentRecord, at: mongo.Timestamp): Life[] {
  const identity = identityOf(kind, record._id, record);
  return identity === undefined ? [] : [{ identity, at, alive: true, owner: record._id }];
}

function lifeKey({ owner, ...identity }: Identity & { owner?: mongo.ObjectId }): string {
  return `${String(owner)} ${identityKey(identity)}`;
}
