import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import { type Connection, mongo } from 'mongoose';
import { isDatabaseAway, isMomentGone, readAsOf } from '../../database/index.js';
import { COLLECTION_OF, IDENTITY_TEXTS, isObjectId, type Kind, KINDS } from '../../record/index.js';
import {
  type Identity,
  identityOf,
  IncompleteIdentities,
  Ledger,
  type StoredIdentity,
  withTold,
} from '../ledger/index.js';
import { isWritten, type WatchedEvent, type WrittenEvent } from '../log/index.js';
import { type ConcernedRecord, QUARANTINE, type SetAside } from './set-aside.schema.js';

/** How many records are read at the same time. */
const AT_ONCE = 10;
/** An identity of many kilobytes would not fit in beside others. */
const LONGEST_IDENTITY = 4096;
/** The fields of a record as of an event; `null` if there was no record, undefined if the moment has expired. */
type Seen = StoredIdentity | null | undefined;

/** Reads the identities that records had as of events that were set aside: consumers may be shown these. */
@Injectable()
export class ShownIdentities {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly ledger: Ledger,
    private readonly incomplete: IncompleteIdentities,
  ) {}

  /**
   * The identity after each event; events after which there was none are absent. If the moment of an event has expired, it is
   * the identity before the event with the fields that the event contains: the current record may have changed since.
   */
  async behind(events: WatchedEvent[]): Promise<Map<WatchedEvent, Identity>> {
    const written = events.filter(isWritten);
    const seen = new Map<WatchedEvent, Seen>();
    for (let start = 0; start < written.length; start += AT_ONCE)
      await Promise.all(
        written.slice(start, start + AT_ONCE).map(async (event) => seen.set(event, await this.asOf(event))),
      );
    const known = await this.knownBefore(written.filter((event) => seen.get(event) === undefined));
    const found = new Map<WatchedEvent, Identity>();
    for (const event of written) {
      const { kind, owner } = event;
      const key = keyOf(kind, owner);
      const held = seen.get(event);
      const shown = held === undefined ? withTold(known.get(key) ?? {}, event.identity) : (held ?? {});
      known.set(key, shown);
      const identity = identityOf(kind, owner, shown);
      if (identity !== undefined && isShort(identity)) found.set(event, identity);
    }
    return found;
  }

  /** The current identity; undefined if the record is gone or cannot be read. */
  async now({ kind, owner }: ConcernedRecord): Promise<Identity | undefined> {
    const [found] = await this.present(kind, [owner]).catch((error: unknown) => {
      if (isDatabaseAway(error)) throw error;
      return [];
    });
    const identity = found && identityOf(kind, owner, found);
    return identity && isShort(identity) ? identity : undefined;
  }

  /** A whole event contains them. */
  private async asOf({ kind, owner, at, identity, whole }: WrittenEvent): Promise<Seen> {
    if (whole) return identity;
    return readAsOf(this.connection.getClient(), at, (snapshot) =>
      this.connection
        .collection(COLLECTION_OF[kind])
        .findOne<StoredIdentity>(
          { _id: owner as mongo.ObjectId },
          { ...snapshot, projection: { _id: 0, ...IDENTITY_TEXTS } },
        ),
    ).catch((error: unknown) => {
      if (isMomentGone(error)) return undefined;
      throw error;
    });
  }

  /** The fields that the records of these events had before them, as far as known. Four reads of each kind at most. */
  private async knownBefore(events: WrittenEvent[]): Promise<Map<string, StoredIdentity>> {
    const known = new Map<string, StoredIdentity>();
    for (const kind of KINDS) {
      const owners = ownersOf(events.filter((event) => event.kind === kind));
      if (owners.length === 0) continue;
      const [shown, partials, owned] = await Promise.all([
        this.lastShown(kind, owners),
        this.incomplete.among(kind, owners),
        this.ledger.ownedBy(kind, owners),
      ]);
      const entries = new Map(owned.toReversed().map((entry) => [entry.owner!.toHexString(), entry]));
      for (const owner of owners) {
        const key = owner.toHexString();
        const [entry, partial] = [entries.get(key), partials.get(key)];
        const isNewer = (partial?.learned ?? '') >= (entry?.learned ?? '');
        const told = shown.get(key) ?? (partial && isNewer ? partial : entry);
        if (told !== undefined) known.set(keyOf(kind, owner), told);
      }
      const others = owners.filter((owner) => !known.has(keyOf(kind, owner)));
      for (const { _id, ...texts } of await this.present(kind, others)) known.set(keyOf(kind, _id), texts);
    }
    return known;
  }

  /** By owner, the identity after the last event of the record that was set aside. */
  private async lastShown(kind: Kind, owners: mongo.ObjectId[]): Promise<Map<string, Identity>> {
    const entries = this.connection.collection<SetAside & { _id: ConcernedRecord }>(QUARANTINE);
    const concerns = owners.map((owner): ConcernedRecord => ({ what: 'record', kind, owner }));
    const found = await entries
      .find({ _id: { $in: concerns } }, { projection: { identities: { $slice: -1 } } })
      .toArray();
    return new Map(
      found.flatMap(({ _id, identities = [] }) =>
        identities.map((identity): [string, Identity] => [_id.owner.toHexString(), identity]),
      ),
    );
  }

  private present(
    kind: Kind,
    owners: mongo.ObjectId[],
  ): Promise<(StoredIdentity & { _id: mongo.ObjectId })[]> {
    const records = this.connection.collection<StoredIdentity & { _id: mongo.ObjectId }>(COLLECTION_OF[kind]);
    return records.find({ _id: { $in: owners } }, { projection: IDENTITY_TEXTS }).toArray();
  }
}

/** The records of these events, each once. */
function ownersOf(events: WrittenEvent[]): mongo.ObjectId[] {
  const owners = events.map(({ owner }) => owner).filter((owner) => isObjectId(owner));
  return [...new Map(owners.map((owner) => [owner.toHexString(), owner])).values()];
}

function keyOf(kind: Kind, owner: unknown): string {
  return `${kind} ${String(owner)}`;
}

function isShort(identity: Identity): boolean {
  return mongo.BSON.calculateObjectSize(identity) <= LONGEST_IDENTITY;
}
