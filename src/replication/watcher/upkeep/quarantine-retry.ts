import { RecordsHeldError, recordsIn, writeUnlessHeld } from '../../../record/index.js';
import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import { pastValidator, readAsOf } from '../../../platform/database/index.js';
import { type Kind, kindNames } from '../../../kinds/index.js';
import { FilterChanges } from '../filters/filter-changes.js';
import {
  type Identity,
  identityKey,
  identityOf,
  isSame,
  type LedgerChange,
  type Life,
  textsOf,
  isIn,
  isPartial,
  type LogPlace,
  placeAfter,
} from '../../protocol/index.js';
import {
  IncompleteIdentities,
  inSlices,
  Ledger,
  type Processed,
  type TermAtWork,
  type ConcernedRecord,
  type ConcernedTombstone,
  type LedgerEntry,
  type SetAside,
} from '../../store/index.js';
import { IgnoredRecords } from '../repair/ignored-records.js';
import { PRESENT, type PresentRecord } from '../repair/present-record.js';
import { RecordMaintenance } from '../repair/record-repair.js';
import { Restamps } from '../stamping/restamps.js';
import { Resurrections } from '../stamping/resurrections.js';

/** Maximum number of identities in one query. */
const MOST_AT_ONCE = 100;

/** A record that was set aside, and its current state; undefined if it is gone. */
interface Found {
  owner: mongo.ObjectId;
  entry: SetAside;
  record: PresentRecord | undefined;
  identity: Identity | undefined;
}

/** Applies what follows from the current state of many entries at once. Every step may be repeated. */
@Injectable()
export class QuarantineRetry {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly ledger: Ledger,
    private readonly incomplete: IncompleteIdentities,
    private readonly maintenance: RecordMaintenance,
    private readonly filters: FilterChanges,
    private readonly ignored: IgnoredRecords,
    private readonly resurrections: Resurrections,
    private readonly restamps: Restamps,
  ) {}

  /** Retries the entries. The log must have been processed up to `at`, because the records are read as of that time. */
  async maintain(entries: SetAside[], at: mongo.Timestamp, term: TermAtWork): Promise<void> {
    for (const kind of kindNames()) {
      const some = ofKind(entries, kind);
      if (some.length > 0) await this.records(kind, await this.readEntries(kind, some, at), at, term);
    }
    const tombstones = entries.flatMap(({ _id }) => (_id.what === 'tombstone' ? [_id] : []));
    if (tombstones.length > 0) await this.tombstones(tombstones, at, term);
    if (entries.some(({ _id }) => _id.what === 'services')) await this.filters.check(undefined, term);
  }

  /**
   * The entries that concern only what is processed. A retry may write to the application of the record as of `at`, to
   * those of its entries in the ledger and of its incomplete identities, and to those in which consumers may have seen it.
   * `services` entries are always included.
   */
  async within(
    { share, withoutKinds }: Processed,
    all: SetAside[],
    at: mongo.Timestamp,
  ): Promise<SetAside[]> {
    const entries = all.filter(({ _id }) => _id.what !== 'record' || !withoutKinds.includes(_id.kind));
    if (!isPartial(share) && withoutKinds.length === 0) return entries;
    const outside = new Set<string>();
    // Otherwise no application is left out.
    for (const kind of isPartial(share) ? kindNames() : []) {
      const found = await this.readEntries(kind, ofKind(entries, kind), at);
      const owners = found.map(({ owner }) => owner);
      const owned = await this.ledger.ownedBy(kind, owners);
      const partials = await this.incomplete.allAmong(kind, owners);
      const concerned = [
        ...owned.map((entry) => ({ owner: entry.owner!, named: entry })),
        ...partials.map((partial) => ({ owner: partial._id.owner, named: partial })),
        ...found.flatMap(({ owner, entry, record }) =>
          [record, entry.known, ...(entry.identities ?? [])].map((named) => ({ owner, named })),
        ),
      ];
      for (const { owner, named = {} } of concerned)
        if (!isIn(share, named)) outside.add(owner.toHexString());
    }
    const tombstones = entries.flatMap(({ _id }) => (_id.what === 'tombstone' ? [_id.owner] : []));
    for (const one of await this.ledger.among(tombstones))
      if (!isIn(share, one) || withoutKinds.includes(one.kind)) outside.add(one._id.toHexString());
    return entries.filter(({ _id }) => _id.what === 'services' || !outside.has(_id.owner.toHexString()));
  }

  private async records(kind: Kind, found: Found[], asOf: mongo.Timestamp, term: TermAtWork): Promise<void> {
    const at = placeAfter(asOf);
    const owners = found.map(({ owner }) => owner);
    const records = found.flatMap(({ record }) => record ?? []);
    const incomplete = found.filter(({ record, identity }) => record !== undefined && identity === undefined);
    const partials = incomplete.map(({ owner, record }) => ({ owner, partial: textsOf(record!, at) }));
    await this.incomplete.keep(kind, partials);
    await this.resurrections.learn(kind, await this.deathsOf(kind, found, asOf), new Map(), term);
    const rivals = await this.resurrections.learnSeen(kind, livesOf(found, at), term);
    if (rivals.length > 0) await this.ignored.hearRivals(kind, rivals);
    const waiting = new Set(rivals.map(({ owner }) => owner));
    const complete = found.filter(
      ({ owner, record, identity }) =>
        record === undefined || (identity !== undefined && !waiting.has(owner.toHexString())),
    );
    const whole = complete.map(({ owner }) => owner);
    if (whole.length > 0) await this.ignored.forgetIncomplete(kind, whole, at);
    await this.maintenance.maintain(kind, { records, at, term });
    await this.stamp(kind, owners, found, term);
  }

  /** Deaths of the records' former identities: those in the ledger, and those that consumers were shown meanwhile. */
  private async deathsOf(kind: Kind, found: Found[], asOf: mongo.Timestamp): Promise<LedgerChange[]> {
    const at = placeAfter(asOf);
    const now = new Map(found.map(({ owner, identity }) => [owner.toHexString(), identity]));
    const owners = found.map(({ owner }) => owner);
    const owned = await this.ledger.ownedBy(kind, owners);
    const standing = new Set(found.flatMap(({ identity }) => (identity ? [identityKey(identity)] : [])));
    const shown = new Map(
      found.flatMap(({ entry }) => (entry.identities ?? []).map((one) => [identityKey(one), one] as const)),
    );
    const unlearned = [...shown].filter(([key]) => !standing.has(key)).map(([, one]) => one);
    const deaths = [
      ...owned
        .filter((one) => !isSame(one, now.get(one.owner!.toHexString())))
        .map((identity) => ({ identity, shortLived: false })),
      ...(await this.unowned(kind, unlearned, asOf)).map((identity) => ({
        identity,
        shortLived: true,
      })),
    ];
    return deaths.map((death) => ({ ...death, at, alive: false as const }));
  }

  /** Re-stamps the records regardless of their stamps; resurrected ones above the hard delete that consumers know. */
  private async stamp(kind: Kind, owners: mongo.ObjectId[], found: Found[], term: TermAtWork): Promise<void> {
    const above = found.filter(({ entry }) => entry.above !== undefined);
    for (const { owner, entry } of above) await this.restamps.above(kind, [owner], entry.above!, term);
    const done = new Set(above.map(({ owner }) => owner.toHexString()));
    const others = owners.filter((owner) => !done.has(owner.toHexString()));
    if (others.length > 0) await this.restamps.records(kind, others, 'quarantine', term);
  }

  /**
   * A pass also sets aside an entry that it could not confirm as of its own place, and an abandoned term may then write
   * a life of an earlier place. So the retry confirms the entry, and ends the life if its record is gone. As with a stamp,
   * the validator is bypassed, and an entry that a transaction holds delays no other.
   */
  private async tombstones(
    concerns: ConcernedTombstone[],
    asOf: mongo.Timestamp,
    term: TermAtWork,
  ): Promise<void> {
    const at = placeAfter(asOf);
    const entries = concerns.map(({ owner }) => owner);
    const held = await writeUnlessHeld(entries, (some, maxTimeMS) =>
      pastValidator((past) => this.ledger.confirm(some, at, { ...past, maxTimeMS })),
    );
    if (held.length > 0) throw new RecordsHeldError(held);
    const found = await this.ledger.among(entries);
    const dead = found.filter(({ alive }) => !alive);
    await this.restamps.tombstones(
      dead.map(({ _id }) => _id),
      'quarantine',
      term,
    );
    for (const kind of kindNames()) {
      const ofThis = found.filter((entry) => entry.kind === kind);
      await this.buryGone(
        kind,
        ofThis.filter(({ alive }) => alive),
        asOf,
      );
      const some = ofThis.filter(({ alive }) => !alive);
      if (some.length > 0) await this.resurrections.review(kind, some, { at, fences: new Map() }, term);
    }
  }

  /** Ends the lives whose records did not have the identity as of `at`. */
  private async buryGone(kind: Kind, living: LedgerEntry[], at: mongo.Timestamp): Promise<void> {
    const records = await this.read(
      kind,
      living.map(({ owner }) => owner!),
      at,
    );
    const gone = living.filter((entry) => {
      const record = records.get(entry.owner!.toHexString());
      return !isSame(entry, record && identityOf(kind, entry.owner, record));
    });
    const death = { at: placeAfter(at), alive: false as const, shortLived: false };
    await this.ledger.learn(gone.map((identity) => ({ identity, ...death })));
  }

  private async readEntries(kind: Kind, entries: SetAside[], at: mongo.Timestamp): Promise<Found[]> {
    const owners = entries.map(({ _id }) => (_id as ConcernedRecord).owner);
    const records = await this.read(kind, owners, at);
    return entries.map((entry, index) => {
      const owner = owners[index]!;
      const record = records.get(owner.toHexString());
      return { owner, entry, record, identity: record && identityOf(kind, owner, record) };
    });
  }

  /**
   * Returns the identities that no record had as of `at`. A living ledger entry does not prove that a record had it: an
   * abandoned term may have written the entry late.
   */
  private async unowned(kind: Kind, identities: Identity[], at: mongo.Timestamp): Promise<Identity[]> {
    const gone: Identity[] = [];
    for (const some of inSlices(identities, ({ id }) => id, MOST_AT_ONCE)) {
      const entries = await this.ledger.livingUnder(kind, some);
      const owners = entries.map(({ owner }) => owner!);
      const records = await this.read(kind, owners, at);
      const owned = new Set(
        owners.flatMap((owner) => {
          const record = records.get(owner.toHexString());
          const identity = record && identityOf(kind, owner, record);
          return identity === undefined ? [] : [identityKey(identity)];
        }),
      );
      gone.push(...some.filter((identity) => !owned.has(identityKey(identity))));
    }
    return gone;
  }

  private async read(
    kind: Kind,
    owners: mongo.ObjectId[],
    at: mongo.Timestamp,
  ): Promise<Map<string, PresentRecord>> {
    if (owners.length === 0) return new Map();
    const found = await readAsOf(this.connection.getClient(), at, (snapshot) =>
      recordsIn(this.connection, kind)
        .aggregate<PresentRecord>([{ $match: { _id: { $in: owners } } }, { $project: PRESENT }], {
          ...snapshot,
        })
        .toArray(),
    );
    return new Map(found.map((record) => [record._id.toHexString(), record]));
  }
}

function livesOf(found: Found[], at: LogPlace): Life[] {
  return found.flatMap(({ owner, record, identity }): Life[] => {
    if (identity === undefined) return [];
    return [{ identity, at, alive: true, owner, ...(record?.isNumber && { isNumber: true }) }];
  });
}

function ofKind(entries: SetAside[], kind: Kind): SetAside[] {
  return entries.filter(({ _id }) => _id.what === 'record' && _id.kind === kind);
}
