import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { Model, mongo } from 'mongoose';
import {
  alongIndex,
  alongIndexIfAny,
  findAll,
  isTimeout,
  refusedAsDuplicate,
} from '../../platform/database/index.js';
import { Metrics } from '../../platform/observability/index.js';
import { type Kind, kindNames } from '../../kinds/index.js';
import {
  ALL,
  inShare,
  isPartial,
  type AppShare,
  type Death,
  type LedgerChange,
  type Life,
  type LogPlace,
  before,
  identitiesByTenant,
  type Identity,
  identityKey,
} from '../protocol/index.js';
import { inSlices, RANGE_MS } from './walk.js';
import {
  firstEntry,
  beginLaterLife,
  endEarlierLife,
  endEarlierNumber,
  revivals,
  tombstones,
} from './ledger-changes.js';
import {
  ENTRIES_BY_IDENTITY,
  ENTRIES_BY_OWNER,
  LEDGER_MODEL,
  type LedgerEntry,
} from './collections.schema.js';

const STATE = { ...ENTRIES_BY_IDENTITY, alive: 1, owner: 1, isNumber: 1, lastupdated: 1, learned: 1 };

/** Reads and writes the ledger. The writers are the watcher and `resync`, which re-stamps tombstones. */
@Injectable()
export class Ledger {
  constructor(
    @InjectModel(LEDGER_MODEL) private readonly entries: Model<LedgerEntry>,
    private readonly metrics: Metrics,
  ) {}

  async hasEntries(): Promise<boolean> {
    return (await this.entries.exists({})) !== null;
  }

  /**
   * Whether the ledger may contain entries of a kind. Also true if the search exceeds the time limit of a range. In the index
   * of identities, it reads a few keys of each application. No index begins with the kind of all entries.
   */
  async knowsKind(kind: Kind): Promise<boolean> {
    const { collection } = this.entries;
    // Without conditions on the first fields of the index, MongoDB reads all of its keys.
    const query = { organizationid: { $gte: '' }, appid: { $gte: '' }, kind };
    const options = { projection: { _id: 1 }, maxTimeMS: RANGE_MS };
    const found = alongIndexIfAny(collection, ENTRIES_BY_IDENTITY, (along) =>
      collection.findOne(query, { ...options, ...along }),
    );
    return found.then(
      (entry) => entry !== null,
      (error: unknown) => {
        if (isTimeout(error)) return true;
        throw error;
      },
    );
  }

  /** The number of living entries. Counted in the index, within the time limit of a range. */
  countLiving(): Promise<number> {
    const alive = { kind: { $in: [...kindNames()] }, alive: true };
    return this.entries.collection.countDocuments(alive, { maxTimeMS: RANGE_MS });
  }

  /**
   * The living entries that these records own, in the order in which they were learned. If a record owns several, the
   * first reflects the events processed so far, and a later one was learned ahead of its event. With a share, only
   * entries of its applications.
   */
  async ownedBy(kind: Kind, owners: mongo.ObjectId[], share: AppShare = ALL): Promise<LedgerEntry[]> {
    if (owners.length === 0) return [];
    const filter = { kind, alive: true, owner: { $in: owners }, ...inShare(share) };
    const find = (along: { hint?: string }) => this.find({ filter, sort: { learned: 1 }, ...along });
    return isPartial(share) ? alongIndexIfAny(this.entries.collection, ENTRIES_BY_OWNER, find) : find({});
  }

  /** Returns the lives whose record does not own the identity. */
  async withoutOwners(kind: Kind, lives: Life[]): Promise<Life[]> {
    const name = (owner: unknown, identity: Identity) => `${String(owner)} ${identityKey(identity)}`;
    const owners = lives.map(({ owner }) => owner);
    const known = new Set((await this.ownedBy(kind, owners)).map((entry) => name(entry.owner, entry)));
    return lives.filter(({ owner, identity }) => !known.has(name(owner, identity)));
  }

  /**
   * Writes what was learned. A change that is older than the ledger's entry has no effect. Returns the lives that could
   * not take effect: those of identities that are dead in the ledger, which are revived only together with a new stamp
   * of their record (design §3, rule 4), and those of records with a numeric `id` whose identity another record owns,
   * which must wait. Such a record also waits if the ledger contains a later death: it still claims the identity, and
   * no further event reports that.
   */
  async learn(changes: LedgerChange[]): Promise<Life[]> {
    const lives = changes.filter((change) => change.alive);
    const deaths = changes.filter((change) => !change.alive);
    const ended = await this.update(lives.filter((life) => life.afterDeath).map(endEarlierLife));
    const known = await this.known(lives);
    const unknown = lives.filter(({ identity }) => !known.has(identityKey(identity)));
    const seenBefore = await this.insert(unknown.map(firstEntry));
    const later = [
      ...lives.filter(({ identity }) => known.get(identityKey(identity))?.alive),
      ...unknown.filter((_life, index) => seenBefore.has(index)),
    ];
    const stillLiving = await this.update(later.map(beginLaterLife));
    const dead = await this.writeTombstones(deaths);
    this.metrics.tombstones.inc(ended + dead);
    const overtaken = stillLiving === later.length ? [] : await this.overtaken(later);
    return [...lives.filter((life) => isBlockedByDeath(life, known)), ...overtaken];
  }

  /** Learns lives of identities without an entry; existing entries are left unchanged, regardless of their owner. */
  async learnUnknown(lives: Life[]): Promise<void> {
    await this.insert(lives.map(firstEntry));
  }

  /** The entries with these `_id`s. With a share, only entries of its applications. */
  async among(entries: mongo.ObjectId[], share: AppShare = ALL): Promise<LedgerEntry[]> {
    if (entries.length === 0) return [];
    return this.find({ filter: { _id: { $in: entries }, ...inShare(share) }, hint: { _id: 1 } });
  }

  /** Marks the entries as known as of a place in the log, unless they are known as of a later one. */
  async confirm(entries: mongo.ObjectId[], at: LogPlace, options: mongo.UpdateOptions): Promise<void> {
    const outdated = { _id: { $in: entries }, learned: before(at) };
    await this.entries.collection.updateMany(outdated, { $set: { learned: at } }, options);
  }

  /** The living entries of a few identities. */
  async livingUnder(kind: Kind, identities: Identity[]): Promise<LedgerEntry[]> {
    if (identities.length === 0) return [];
    const among = identities.map(({ organizationid, appid, id }) => ({ organizationid, appid, kind, id }));
    return this.entries.collection.find<LedgerEntry>({ $or: among, alive: true }).toArray();
  }

  /**
   * Returns the lives whose identity is dead in the ledger, moved to the place of the death if that is later. The
   * caller must read their records after this call, so that they are read after the death was learned. Any change after
   * that read is reported by a later event.
   */
  async livesAfterDeaths(lives: Life[]): Promise<Life[]> {
    const entries = await this.known(lives);
    return lives.flatMap((life) => {
      const entry = entries.get(identityKey(life.identity));
      if (entry === undefined || entry.alive) return [];
      return [{ ...life, at: entry.learned > life.at ? entry.learned : life.at }];
    });
  }

  /**
   * Returns the given lives, which must all be lives of records with a text as `id`. If the ledger has learned at a
   * later place that a record with a numeric `id` owns the identity, as after an interrupted batch, the life is moved
   * to that place. The caller must read the records after this call, as with {@link livesAfterDeaths}.
   */
  async livesAfterNumbers(lives: Life[]): Promise<Life[]> {
    const entries = await this.known(lives);
    return lives.map((life) => {
      const entry = entries.get(identityKey(life.identity));
      const isLater = entry?.alive === true && entry.isNumber === true && entry.learned > life.at;
      return isLater ? { ...life, at: entry.learned } : life;
    });
  }

  /**
   * For a few lives of one kind: the tombstones of their identities, by identity. Tombstones from a later place than
   * the life are excluded.
   */
  async tombstonesOf(lives: Life[], session?: mongo.ClientSession): Promise<Map<string, LedgerEntry>> {
    const entries = await this.entriesOf(lives, { alive: false }, session);
    const dead = lives.filter((life) => isDeadFor(life, entries));
    return new Map(dead.map(({ identity }) => identityKey(identity)).map((key) => [key, entries.get(key)!]));
  }

  /**
   * Revives the tombstones of the identities of these lives. Several at once must be revived in the transaction in
   * which the tombstones were read: each write checks `learned` only against the latest of its lives.
   */
  async revive(lives: Life[], session?: mongo.ClientSession): Promise<void> {
    if (lives.length === 0) return;
    const { collection } = this.entries;
    await alongIndex(collection, ENTRIES_BY_IDENTITY, (hint) => {
      const writes = revivals(lives).map(({ updateMany }) => ({ updateMany: { ...updateMany, hint } }));
      return collection.bulkWrite(writes, session && { session });
    });
  }

  /**
   * The lives whose identity is dead in the ledger, and those of records with a numeric `id` whose identity another
   * record owns. An abandoned term may have written late, after the owners were read. If an owner with a numeric `id`
   * blocks a record with a text, and is not newer than that record, the owner's life is ended first.
   */
  private async overtaken(lives: Life[]): Promise<Life[]> {
    const entries = await this.known(lives);
    const others = lives.filter((life) => {
      const { alive, owner } = entries.get(identityKey(life.identity)) ?? {};
      return alive === true && !life.owner.equals(owner);
    });
    const ended = await this.update(others.filter(({ isNumber }) => !isNumber).map(endEarlierNumber));
    this.metrics.tombstones.inc(ended);
    const known = await this.known(lives);
    return [
      ...others.filter(({ isNumber }) => isNumber),
      ...lives.filter((life) => isBlockedByDeath(life, known)),
    ];
  }

  /** The entries for the identities of lives of one kind, by identity. */
  private async known(lives: Life[]): Promise<Map<string, LedgerEntry>> {
    const known = new Map<string, LedgerEntry>();
    for (const some of inSlices(lives, ({ identity }) => identity.id))
      for (const [key, entry] of await this.entriesOf(some, {})) known.set(key, entry);
    return known;
  }

  private async entriesOf(
    lives: Life[],
    which: { alive?: boolean },
    session?: mongo.ClientSession,
  ): Promise<Map<string, LedgerEntry>> {
    const found = new Map<string, LedgerEntry>();
    const kind = lives[0]?.identity.kind;
    const projection = STATE;
    for (const { organizationid, appid, ids } of identitiesByTenant(lives.map(({ identity }) => identity))) {
      const filter = { organizationid, appid, kind, id: { $in: ids }, ...which };
      const { collection } = this.entries;
      const entries = await alongIndex(collection, ENTRIES_BY_IDENTITY, (hint) =>
        session === undefined
          ? this.find({ filter, projection, hint })
          : collection.find<LedgerEntry>(filter, { session, projection, hint }).toArray(),
      );
      for (const entry of entries) found.set(identityKey(entry), entry);
    }
    return found;
  }

  private find(query: Omit<Parameters<typeof findAll>[1], 'find'>): Promise<LedgerEntry[]> {
    return findAll(this.entries.db.db!, { find: this.entries.collection.collectionName, ...query });
  }

  /** Inserts entries. Returns the indexes of those that already exist. */
  private async insert(entries: Omit<LedgerEntry, '_id'>[]): Promise<Set<number>> {
    if (entries.length === 0) return new Set();
    return this.entries.collection
      .bulkWrite(
        entries.map((document) => ({ insertOne: { document } })),
        { ordered: false },
      )
      .then(() => new Set<number>(), refusedAsDuplicate);
  }

  private writeTombstones(deaths: Death[]): Promise<number> {
    if (deaths.length === 0) return Promise.resolve(0);
    return alongIndexIfAny(this.entries.collection, ENTRIES_BY_IDENTITY, (along) =>
      this.update(tombstones(deaths, along)),
    );
  }

  /**
   * Executes the writes. Returns the number of entries matched or inserted. An upsert that fails on the unique index
   * had nothing to write.
   */
  private async update(writes: mongo.AnyBulkWriteOperation[]): Promise<number> {
    if (writes.length === 0) return 0;
    const done = (result: mongo.BulkWriteResult) => result.matchedCount + result.upsertedCount;
    return this.entries.collection.bulkWrite(writes, { ordered: false }).then(done, (error: unknown) => {
      refusedAsDuplicate(error);
      return done((error as mongo.MongoBulkWriteError).result);
    });
  }
}

/** Whether the ledger contains a tombstone of the life's identity, from the place of the life or an earlier one. */
function isDeadFor({ identity, at }: Life, entries: Map<string, LedgerEntry>): boolean {
  const entry = entries.get(identityKey(identity));
  return entry !== undefined && !entry.alive && !(entry.learned > at);
}

/** Like {@link isDeadFor}, but for a record with a numeric `id`, the place of the tombstone does not matter. */
function isBlockedByDeath(life: Life, entries: Map<string, LedgerEntry>): boolean {
  const isWaiting = life.isNumber && entries.get(identityKey(life.identity))?.alive === false;
  return isWaiting || isDeadFor(life, entries);
}
