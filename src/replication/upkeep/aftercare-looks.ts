import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import { readAsOf } from '../../database/index.js';
import { COLLECTION_OF, type Kind, KINDS } from '../../record/index.js';
import { FilterChanges } from '../filters/index.js';
import {
  type Identity,
  identityKey,
  identityOf,
  IncompleteIdentities,
  isSame,
  Ledger,
  type LedgerChange,
  type Life,
  textsOf,
} from '../ledger/index.js';
import { type LogPlace, placeBehind, type TermAtWork } from '../progress/index.js';
import type { ConcernedRecord, ConcernedTombstone, SetAside } from '../quarantine/index.js';
import { IgnoredRecords, PRESENT, type PresentRecord, RecordCare } from '../repair/index.js';
import { Restamps, Resurrections } from '../stamping/index.js';

/** A record that was set aside, and its current state; undefined if it is gone. */
interface Look {
  owner: mongo.ObjectId;
  entry: SetAside;
  record: PresentRecord | undefined;
  identity: Identity | undefined;
}

/** Applies what follows from the current state of many entries at once. Every step may be repeated. */
@Injectable()
export class AftercareLooks {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly ledger: Ledger,
    private readonly incomplete: IncompleteIdentities,
    private readonly care: RecordCare,
    private readonly filters: FilterChanges,
    private readonly ignored: IgnoredRecords,
    private readonly resurrections: Resurrections,
    private readonly restamps: Restamps,
  ) {}

  /** Everything up to `at` is processed, so a read as of `at` shows the result of the log up to there. */
  async lookAfter(entries: SetAside[], at: mongo.Timestamp, term: TermAtWork): Promise<void> {
    for (const kind of KINDS) {
      const some = entries.filter(({ _id }) => _id.what === 'record' && _id.kind === kind);
      if (some.length > 0) await this.records(kind, await this.look(kind, some, at), at, term);
    }
    const tombstones = entries.flatMap(({ _id }) => (_id.what === 'tombstone' ? [_id] : []));
    if (tombstones.length > 0) await this.tombstones(tombstones, placeBehind(at), term);
    if (entries.some(({ _id }) => _id.what === 'services')) await this.filters.look(undefined, term);
  }

  private async records(kind: Kind, looks: Look[], asOf: mongo.Timestamp, term: TermAtWork): Promise<void> {
    const at = placeBehind(asOf);
    const owners = looks.map(({ owner }) => owner);
    const records = looks.flatMap(({ record }) => record ?? []);
    const incomplete = looks.filter(({ record, identity }) => record !== undefined && identity === undefined);
    await this.incomplete.keep(
      kind,
      incomplete.map(({ owner, record }) => ({ owner, partial: textsOf(record!, at) })),
    );
    await this.resurrections.learn(kind, await this.deathsOf(kind, looks, asOf), new Map(), term);
    const rivals = await this.resurrections.learnSeen(kind, livesOf(looks, at), term);
    if (rivals.length > 0) await this.ignored.hearRivals(kind, rivals);
    const waiting = new Set(rivals.map(({ owner }) => owner));
    const complete = looks.filter(
      ({ owner, record, identity }) =>
        record === undefined || (identity !== undefined && !waiting.has(owner.toHexString())),
    );
    if (complete.length > 0)
      await this.ignored.forgetIncomplete(
        kind,
        complete.map(({ owner }) => owner),
        at,
      );
    await this.care.lookAfter(kind, { records, at, term });
    await this.stamp(kind, owners, looks, term);
  }

  /** Former identities of the records: those in the ledger, and those that consumers were shown meanwhile. */
  private async deathsOf(kind: Kind, looks: Look[], asOf: mongo.Timestamp): Promise<LedgerChange[]> {
    const at = placeBehind(asOf);
    const now = new Map(looks.map(({ owner, identity }) => [owner.toHexString(), identity]));
    const owned = await this.ledger.ownedBy(
      kind,
      looks.map(({ owner }) => owner),
    );
    const standing = new Set(looks.flatMap(({ identity }) => (identity ? [identityKey(identity)] : [])));
    const shown = new Map(
      looks.flatMap(({ entry }) => (entry.identities ?? []).map((one) => [identityKey(one), one] as const)),
    );
    const unlearned = [...shown].filter(([key]) => !standing.has(key)).map(([, one]) => one);
    const deaths = [
      ...owned
        .filter((one) => !isSame(one, now.get(one.owner!.toHexString())))
        .map((identity) => ({ identity, shortLived: false })),
      ...(await this.notStanding(kind, unlearned, asOf)).map((identity) => ({
        identity,
        shortLived: true,
      })),
    ];
    return deaths.map((death) => ({ ...death, at, alive: false as const }));
  }

  /** Stamps them anew whatever their stamps are; resurrected ones above the hard delete that consumers know. */
  private async stamp(kind: Kind, owners: mongo.ObjectId[], looks: Look[], term: TermAtWork): Promise<void> {
    const above = looks.filter(({ entry }) => entry.above !== undefined);
    for (const { owner, entry } of above) await this.restamps.above(kind, [owner], entry.above!, term);
    const done = new Set(above.map(({ owner }) => owner.toHexString()));
    const others = owners.filter((owner) => !done.has(owner.toHexString()));
    if (others.length > 0) await this.restamps.records(kind, others, 'quarantine', term);
  }

  private async tombstones(concerns: ConcernedTombstone[], at: LogPlace, term: TermAtWork): Promise<void> {
    const found = await this.ledger.among(concerns.map(({ owner }) => owner));
    const dead = found.filter(({ alive }) => !alive);
    if (dead.length === 0) return;
    await this.restamps.tombstones(
      dead.map(({ _id }) => _id),
      'quarantine',
      term,
    );
    for (const kind of KINDS) {
      const some = dead.filter((entry) => entry.kind === kind);
      if (some.length > 0) await this.resurrections.look(kind, some, { at, fences: new Map() }, term);
    }
  }

  private async look(kind: Kind, entries: SetAside[], at: mongo.Timestamp): Promise<Look[]> {
    const owners = entries.map(({ _id }) => (_id as ConcernedRecord).owner);
    const records = await this.read(kind, owners, at);
    return entries.map((entry, index) => {
      const owner = owners[index]!;
      const record = records.get(owner.toHexString());
      return { owner, entry, record, identity: record && identityOf(kind, owner, record) };
    });
  }

  /**
   * Those under which no record was as of the look. That an entry of the ledger lives does not tell that one was: a term that was
   * given up may have written it late.
   */
  private async notStanding(kind: Kind, identities: Identity[], at: mongo.Timestamp): Promise<Identity[]> {
    const gone: Identity[] = [];
    for (let start = 0; start < identities.length; start += 100) {
      const some = identities.slice(start, start + 100);
      const entries = await this.ledger.livingUnder(kind, some);
      const owners = entries.map(({ owner }) => owner!);
      const records = await this.read(kind, owners, at);
      const standing = new Set(
        owners.flatMap((owner) => {
          const record = records.get(owner.toHexString());
          const identity = record && identityOf(kind, owner, record);
          return identity === undefined ? [] : [identityKey(identity)];
        }),
      );
      gone.push(...some.filter((identity) => !standing.has(identityKey(identity))));
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
      this.connection
        .collection(COLLECTION_OF[kind])
        .aggregate<PresentRecord>([{ $match: { _id: { $in: owners } } }, { $project: PRESENT }], {
          ...snapshot,
        })
        .toArray(),
    );
    return new Map(found.map((record) => [record._id.toHexString(), record]));
  }
}

function livesOf(looks: Look[], at: LogPlace): Life[] {
  return looks.flatMap(({ owner, record, identity }): Life[] => {
    if (identity === undefined) return [];
    return [{ identity, at, alive: true, owner, ...(record?.isNumber && { isNumber: true }) }];
  });
}
