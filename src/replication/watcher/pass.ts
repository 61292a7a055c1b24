import { Injectable, Logger } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import { type Connection, mongo } from 'mongoose';
import { Metrics } from '../../common/index.js';
import { FIRST_ID, COLLECTION_OF, type Kind, KINDS } from '../../record/index.js';
import {
  type Identity,
  identityKey,
  Ledger,
  type LedgerEntry,
  type Life,
  type Place,
  Strays,
} from '../ledger/index.js';
import type { PassProgress } from '../mark/index.js';
import { Effects } from './effects.js';
import { PRESENT, type PresentRecord } from './mending.js';
import { Numbers } from './numbers.js';
import { Rebirths } from './rebirths.js';
import { Restamps } from './restamps.js';
import { identityOf, textsOf } from './lives.js';

const BATCH = 1000;
const TELL_MS = 2000;

/** One pass: everything it learns is knowledge of `at`, where the new stream was opened. */
export interface Run {
  at: Place;
  progress: PassProgress;
  stop: AbortSignal;
  /** Makes the progress visible; throws where the term is over. */
  tell: (progress: PassProgress) => Promise<void>;
  /** Works through what the new stream has by now: the log may be shorter than what a pass writes into it. */
  keepUp: () => Promise<void>;
}

/**
 * The pass over everything that is there (design §3): learns every record, mends what is to mend, then every living
 * ledger entry without its record is a delete. After a lost history everything is stamped anew, tombstones too, since
 * what cannot be proven unchanged is changed. What the stream tells afterwards overrides all of it.
 */
@Injectable()
export class Pass {
  private readonly log = new Logger('Watcher');
  private toldAt = 0;

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly ledger: Ledger,
    private readonly strays: Strays,
    private readonly effects: Effects,
    private readonly restamps: Restamps,
    private readonly rebirths: Rebirths,
    private readonly numbers: Numbers,
    private readonly metrics: Metrics,
  ) {}

  async prepare(reason: string, isRepair: boolean): Promise<PassProgress> {
    this.log.log(`A pass over all records begins (${reason})`);
    this.metrics.passes.inc({ reason: isRepair ? 'repair' : 'first start' });
    const counts = [...KINDS.map((kind) => COLLECTION_OF[kind]), 'ledger'].map((name) =>
      this.connection.collection(name).estimatedDocumentCount(),
    );
    const total = (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
    return { reason, isRepair, started: new Date(), done: 0, total };
  }

  async run(run: Run): Promise<void> {
    for (const kind of KINDS) {
      const records = await this.learnRecords(kind, run);
      this.log.log(`Pass over ${COLLECTION_OF[kind]}: ${records} records`);
    }
    const deletes = await this.settleLedger(run);
    this.log.log(`Pass over the ledger: ${deletes} deletes`);
  }

  private async learnRecords(kind: Kind, run: Run): Promise<number> {
    let count = 0;
    for (let behind: mongo.ObjectId | undefined; !run.stop.aborted;) {
      const records = await this.standing(kind, behind === undefined ? { $gte: FIRST_ID } : { $gt: behind });
      const last = records.at(-1);
      if (last === undefined) break;
      await this.learnSome(kind, records, run);
      behind = last._id;
      count += records.length;
      await this.advance(run, records.length);
    }
    return count;
  }

  private async learnSome(kind: Kind, records: PresentRecord[], { at, progress }: Run): Promise<void> {
    const found = records.flatMap((record) => lifeOf(kind, record, at));
    const lives = await this.numbers.settle(kind, found);
    await Promise.all([
      this.learnLives(kind, lives, at),
      this.keepStrays(kind, records, lives),
      this.effects.lookAfter(kind, { records, at }),
    ]);
    const ids = records.map(({ _id }) => _id);
    if (progress.isRepair) await this.restamps.records(kind, ids, 'pass');
  }

  /** What is known already is known anew as of the pass, so that nothing that was seen before it can overwrite it. */
  private async learnLives(kind: Kind, lives: Life[], at: Place): Promise<void> {
    const entries = await this.ledger.ownedBy(
      kind,
      lives.map(({ owner }) => owner),
    );
    const standing = new Set(lives.map((life) => lifeKey({ ...life.identity, owner: life.owner })));
    const known = entries.filter((entry) => standing.has(lifeKey(entry)));
    await this.ledger.confirm(
      known.map(({ _id }) => _id),
      at,
    );
    const knownKeys = new Set(known.map(lifeKey));
    const news = lives.filter(({ identity, owner }) => !knownKeys.has(lifeKey({ ...identity, owner })));
    await this.rebirths.bring(kind, await this.ledger.learn(news), new Map());
  }

  private async keepStrays(kind: Kind, records: PresentRecord[], lives: Life[]): Promise<void> {
    const isWhole = (record: PresentRecord) => identityOf(kind, record._id, record) !== undefined;
    const incomplete = records.filter((record) => !isWhole(record));
    await this.strays.forget(
      kind,
      lives.map(({ owner }) => owner),
    );
    await this.strays.keep(
      kind,
      incomplete.map((record) => ({ owner: record._id, partial: textsOf(record) })),
    );
  }

  /**
   * Every entry is known as of the beginning of the new stream before anybody looks whether it lives: else an overtaken
   * watcher could write down afterwards what it saw before that stream, and nobody would ever hear of the end of it.
   */
  private async settleLedger(run: Run): Promise<number> {
    let deletes = 0;
    for (let behind: mongo.ObjectId = FIRST_ID; !run.stop.aborted;) {
      const ids = await this.ledger.behind(behind, BATCH);
      const last = ids.at(-1);
      if (last === undefined) break;
      await this.ledger.confirm(ids, run.at);
      deletes += await this.settle(await this.ledger.among(ids), run);
      behind = last;
      await this.advance(run, ids.length);
    }
    return deletes;
  }

  /** A living entry without its record is a delete; after a lost history tombstones are stamped anew. */
  private async settle(entries: LedgerEntry[], { at, progress }: Run): Promise<number> {
    const living = entries.filter(({ alive }) => alive);
    const gone: LedgerEntry[] = [];
    for (const kind of KINDS)
      gone.push(
        ...(await this.withoutRecord(
          kind,
          living.filter((entry) => entry.kind === kind),
        )),
      );
    await this.ledger.learn(
      gone.map((identity) => ({ identity, at, alive: false as const, shortLived: false })),
    );
    const dead = entries.filter(({ alive }) => !alive).map(({ _id }) => _id);
    if (progress.isRepair) await this.restamps.tombstones(dead, 'pass');
    return gone.length;
  }

  private async withoutRecord(kind: Kind, living: LedgerEntry[]): Promise<LedgerEntry[]> {
    if (living.length === 0) return [];
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

  private async advance({ progress, tell, keepUp }: Run, done: number): Promise<void> {
    await keepUp();
    progress.done += done;
    if (Date.now() - this.toldAt < TELL_MS) return;
    this.toldAt = Date.now();
    this.log.log(`Pass: ${progress.done} of about ${progress.total} records and ledger entries`);
    await tell(progress);
  }
}

function lifeOf(kind: Kind, record: PresentRecord, at: Place): Life[] {
  const identity = identityOf(kind, record._id, record);
  if (identity === undefined) return [];
  const { _id: owner, isNumber } = record;
  return [{ identity, at, alive: true, owner, ...(isNumber && { isNumber }) }];
}

function lifeKey({ owner, ...identity }: Identity & { owner?: mongo.ObjectId }): string {
  return `${String(owner)} ${identityKey(identity)}`;
}
