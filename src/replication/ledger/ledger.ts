import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { Model, mongo } from 'mongoose';
import { alongIndex, refusedAsDuplicate } from '../../database/index.js';
import { Metrics } from '../../observability/index.js';
import { type Kind, KINDS } from '../../record/index.js';
import { inSlices, STRETCH_MS } from '../walk/index.js';
import { firstLife, laterLife, type LedgerChange, lifeBefore, type Life, tombstones } from './changes.js';
import { identitiesByTenant } from './identities-by-tenant.js';
import { type Identity, identityKey } from './identity.js';
import { LEDGER_MODEL, type LedgerEntry } from './ledger.schema.js';

/** Not one of the indexes of tombstones, of which an application may have millions. */
const BY_IDENTITY = { organizationid: 1, appid: 1, kind: 1, id: 1 } as const;
const TOMBSTONE = { organizationid: 1, appid: 1, kind: 1, id: 1, lastupdated: 1, learned: 1 };

/** Reads and writes the ledger. The watcher writes, and `resync`, which stamps tombstones anew. */
@Injectable()
export class Ledger {
  constructor(
    @InjectModel(LEDGER_MODEL) private readonly entries: Model<LedgerEntry>,
    private readonly metrics: Metrics,
  ) {}

  /** Whether anything was ever learned. */
  async isBegun(): Promise<boolean> {
    return (await this.entries.exists({})) !== null;
  }

  /** How many entries are alive: along the index, and not for longer than a stretch may take. */
  countLiving(): Promise<number> {
    const alive = { kind: { $in: [...KINDS] }, alive: true };
    return this.entries.collection.countDocuments(alive, { maxTimeMS: STRETCH_MS });
  }

  /**
   * The living entries that these records own, in the order in which they were learned. Of several that one record owns,
   * the first is what it was as far as events were worked through; a later one was learned ahead of its event.
   */
  async ownedBy(kind: Kind, owners: mongo.ObjectId[]): Promise<LedgerEntry[]> {
    if (owners.length === 0) return [];
    return this.entries.collection
      .find<LedgerEntry>({ kind, alive: true, owner: { $in: owners } }, { sort: { learned: 1 } })
      .toArray();
  }

  /**
   * Writes what was learned; knowledge older than the ledger's own changes nothing. Answers the lives of identities that
   * the ledger holds for dead: these come back only together with a new stamp of their record (design §3, rule 4).
   */
  async learn(changes: LedgerChange[]): Promise<Life[]> {
    const lives = changes.filter((change) => change.alive);
    const deaths = changes.filter((change) => !change.alive);
    const ended = await this.update(lives.filter((life) => life.afterDeath).map(lifeBefore));
    const seenBefore = await this.insert(lives.map(firstLife));
    const later = lives.filter((_life, index) => seenBefore.has(index));
    const stillLiving = await this.update(later.map(laterLife));
    const dead = await this.update(tombstones(deaths));
    this.metrics.tombstones.inc(ended + dead);
    return stillLiving === later.length ? [] : this.deadAmong(later);
  }

  /** Learns lives of identities without an entry; existing entries are left unchanged, whichever record owns them. */
  async learnUnknown(lives: Life[]): Promise<void> {
    await this.insert(lives.map(firstLife));
  }

  /** The entries with these `_id`s. */
  async among(entries: mongo.ObjectId[]): Promise<LedgerEntry[]> {
    if (entries.length === 0) return [];
    return this.entries.collection.find<LedgerEntry>({ _id: { $in: entries } }).toArray();
  }

  /** Those of a few identities under which nothing lives. */
  async notLiving(kind: Kind, identities: Identity[]): Promise<Identity[]> {
    if (identities.length === 0) return [];
    const among = identities.map(({ organizationid, appid, id }) => ({ organizationid, appid, kind, id }));
    const living = await this.entries.collection
      .find<LedgerEntry>(
        { $or: among, alive: true },
        { projection: { organizationid: 1, appid: 1, kind: 1, id: 1 } },
      )
      .toArray();
    const names = new Set(living.map(identityKey));
    return identities.filter((identity) => !names.has(identityKey(identity)));
  }

  /** The lives of identities that the ledger holds for dead, as of no later place. */
  async deadAmong(lives: Life[]): Promise<Life[]> {
    const dead: Life[] = [];
    for (const some of inSlices(lives, ({ identity }) => identity.id)) {
      const tombstones = await this.tombstonesOf(some);
      dead.push(...some.filter(({ identity }) => tombstones.has(identityKey(identity))));
    }
    return dead;
  }

  /** The tombstones of the identities of a few lives of one kind, by identity, as of no later place than each life. */
  async tombstonesOf(lives: Life[], session?: mongo.ClientSession): Promise<Map<string, LedgerEntry>> {
    const [one] = lives;
    const tombstones = new Map<string, LedgerEntry>();
    if (one === undefined) return tombstones;
    const { kind } = one.identity;
    const options = { ...(session && { session }), projection: TOMBSTONE };
    for (const { organizationid, appid, ids } of identitiesByTenant(lives.map(({ identity }) => identity))) {
      const dead = { organizationid, appid, kind, id: { $in: ids }, alive: false };
      const found = await alongIndex(this.entries.collection, BY_IDENTITY, (hint) =>
        this.entries.collection.find<LedgerEntry>(dead, { ...options, hint }).toArray(),
      );
      for (const entry of found) tombstones.set(identityKey(entry), entry);
    }
    for (const { identity, at } of lives) {
      const name = identityKey(identity);
      if ((tombstones.get(name)?.learned ?? '') > at) tombstones.delete(name);
    }
    return tombstones;
  }

  /** Which of the entries the ledger has already. */
  private async insert(entries: Omit<LedgerEntry, '_id'>[]): Promise<Set<number>> {
    if (entries.length === 0) return new Set();
    return this.entries.collection
      .bulkWrite(
        entries.map((document) => ({ insertOne: { document } })),
        { ordered: false },
      )
      .then(() => new Set<number>(), refusedAsDuplicate);
  }

  /** How many entries were found; an upsert that runs into the unique index means "leave it". */
  private async update(writes: mongo.AnyBulkWriteOperation[]): Promise<number> {
    if (writes.length === 0) return 0;
    const done = (result: mongo.BulkWriteResult) => result.matchedCount + result.upsertedCount;
    return this.entries.collection.bulkWrite(writes, { ordered: false }).then(done, (error: unknown) => {
      refusedAsDuplicate(error);
      return done((error as mongo.MongoBulkWriteError).result);
    });
  }
}
