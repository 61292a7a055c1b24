import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import { type Connection, mongo } from 'mongoose';
import { isDatabaseAway, isMomentGone, readAsOf } from '../../platform/database/index.js';
import { type Kind, kindNames } from '../../kinds/index.js';
import { recordsIn, IDENTITY_TEXTS, isObjectId } from '../../record/index.js';
import {
  type Identity,
  identityOf,
  type StoredIdentity,
  updatedIdentity,
  isWritten,
  type WatchedEvent,
  type WrittenEvent,
  type LogPlace,
} from '../protocol/index.js';
import { IncompleteIdentities } from './incomplete-identities.js';
import { Ledger } from './ledger.js';
import { type ConcernedRecord, type LastKnown, QUARANTINE, type SetAside } from './collections.schema.js';

/** The number of records that are read concurrently. */
const AT_ONCE = 10;
/** A larger identity is not kept, since an entry holds many of them (bytes). */
const LONGEST_IDENTITY = 4096;
/** The fields of a record as of an event; `null` if there was no record, undefined if the moment has expired. */
type Seen = StoredIdentity | null | undefined;

/** The fields of a record after an event, and its identity, if consumers may have seen one. */
export interface ShownBehind {
  identity: Identity | undefined;
  known: LastKnown;
}

/** What is known of a record as of a place in the log. Without a place, the knowledge always counts. */
type Known = StoredIdentity & { learned?: LogPlace };

/** Reads the identities that records had at events that were set aside. Consumers may be shown these identities. */
@Injectable()
export class ShownIdentities {
  private readonly read = new WeakMap<WrittenEvent, StoredIdentity | null>();

  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly ledger: Ledger,
    private readonly incomplete: IncompleteIdentities,
  ) {}

  /**
   * Keeps what the watcher has read of a record as of an event, `null` if there was no record: the moment may expire
   * before the event is set aside.
   */
  remember(event: WrittenEvent, fields: StoredIdentity | null): void {
    this.read.set(event, fields);
  }

  /**
   * The fields of each record after each event. If the moment of an event has expired, they are the fields known from before
   * the event, updated by the fields in the event: the current record may have changed since. An event is omitted if its
   * moment has expired and this event or a later one of its record was set aside before. In that case an abandoned term
   * is repeating the event.
   */
  async behind(events: WatchedEvent[]): Promise<Map<WatchedEvent, ShownBehind>> {
    const written = events.filter(isWritten);
    const seen = new Map<WatchedEvent, Seen>();
    for (let start = 0; start < written.length; start += AT_ONCE)
      await Promise.all(
        written.slice(start, start + AT_ONCE).map(async (event) => seen.set(event, await this.asOf(event))),
      );
    const known = await this.knownBefore(written.filter((event) => seen.get(event) === undefined));
    const found = new Map<WatchedEvent, ShownBehind>();
    for (const event of written) {
      const { kind, owner, place } = event;
      const key = keyOf(kind, owner);
      const held = seen.get(event);
      const before = known.get(key);
      if (held === undefined && before?.learned !== undefined && before.learned >= place) continue;
      const fields = held === undefined ? updatedIdentity(before ?? {}, event.identity) : (held ?? {});
      const last = { ...shortened(fields), learned: place };
      known.set(key, last);
      found.set(event, { identity: identityOf(kind, owner, last), known: last });
    }
    return found;
  }

  /** The current identity; undefined if the record is gone or cannot be read. */
  async now({ kind, owner }: ConcernedRecord): Promise<Identity | undefined> {
    const [found] = await this.present(kind, [owner]).catch((error: unknown) => {
      if (isDatabaseAway(error)) throw error;
      return [];
    });
    return found && identityOf(kind, owner, shortened(found));
  }

  /** The fields of a record as of an event. A whole event contains them. */
  private async asOf(event: WrittenEvent): Promise<Seen> {
    const { kind, owner, at, identity, whole } = event;
    if (whole) return identity;
    const read = this.read.get(event);
    if (read !== undefined) return read;
    return readAsOf(this.connection.getClient(), at, (snapshot) =>
      recordsIn(this.connection, kind).findOne<StoredIdentity>(
        { _id: owner as mongo.ObjectId },
        { ...snapshot, projection: { _id: 0, ...IDENTITY_TEXTS } },
      ),
    ).catch((error: unknown) => {
      if (isMomentGone(error)) return undefined;
      throw error;
    });
  }

  /**
   * The newest knowledge of the records of these events. Knowledge of a later place, in the ledger or the incomplete
   * identities, is used only if there is no other; without any knowledge, the current record is read. At most four
   * reads for each kind.
   */
  private async knownBefore(events: WrittenEvent[]): Promise<Map<string, Known>> {
    const known = new Map<string, Known>();
    for (const kind of kindNames()) {
      const ofKind = events.filter((event) => event.kind === kind);
      const owners = ownersOf(ofKind);
      if (owners.length === 0) continue;
      const first = new Map(ofKind.toReversed().map(({ owner, place }) => [String(owner), place]));
      const [setAside, partials, owned] = await Promise.all([
        this.lastKnown(kind, owners),
        this.incomplete.among(kind, owners),
        this.ledger.ownedBy(kind, owners),
      ]);
      const learned = [
        ...[...partials].map(([key, partial]) => ({ key, known: partial as Known })),
        ...owned.map((entry) => ({ key: String(entry.owner), known: entry as Known })),
      ];
      for (const owner of owners) {
        const key = owner.toHexString();
        const candidates = learned.filter((one) => one.key === key).map((one) => one.known);
        const newest = newestBefore(first.get(key)!, setAside.get(key), candidates);
        if (newest !== undefined) known.set(keyOf(kind, owner), newest);
      }
      const others = owners.filter((owner) => !known.has(keyOf(kind, owner)));
      for (const { _id, ...texts } of await this.present(kind, others)) known.set(keyOf(kind, _id), texts);
    }
    return known;
  }

  /** By owner, the fields of each record after its last event that was set aside. */
  private async lastKnown(kind: Kind, owners: mongo.ObjectId[]): Promise<Map<string, Known>> {
    const entries = this.connection.collection<SetAside & { _id: ConcernedRecord }>(QUARANTINE);
    const concerns = owners.map((owner): ConcernedRecord => ({ what: 'record', kind, owner }));
    const found = await entries.find({ _id: { $in: concerns } }, { projection: { known: 1 } }).toArray();
    return new Map(found.flatMap(({ _id, known }) => (known ? [[_id.owner.toHexString(), known]] : [])));
  }

  private present(
    kind: Kind,
    owners: mongo.ObjectId[],
  ): Promise<(StoredIdentity & { _id: mongo.ObjectId })[]> {
    const records = recordsIn<StoredIdentity & { _id: mongo.ObjectId }>(this.connection, kind);
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

/**
 * The newest knowledge of a record. Knowledge from the quarantine counts at any place. Other knowledge counts only if it is
 * of an earlier place than the event, unless there is no other.
 */
function newestBefore(place: LogPlace, setAside: Known | undefined, learned: Known[]): Known | undefined {
  const placeIn = ({ learned: at = '' }: Known) => at;
  const before = learned.filter((one) => placeIn(one) < place);
  const candidates = [...before, ...(setAside ? [setAside] : [])];
  const newest = candidates.reduce<Known | undefined>(
    (one, other) => (one === undefined || placeIn(other) > placeIn(one) ? other : one),
    undefined,
  );
  if (newest !== undefined) return newest;
  const [ahead] = learned;
  return ahead && { ...ahead, learned: '' };
}

/** Drops the identity if it is too large for an entry. */
function shortened({ organizationid, appid, id, isNumber }: StoredIdentity): StoredIdentity {
  const identity = { organizationid, appid, id, ...(isNumber && { isNumber }) };
  const fields = Object.entries(identity).filter(([, value]) => value !== undefined);
  const short = Object.fromEntries(fields) as StoredIdentity;
  return mongo.BSON.calculateObjectSize(short) <= LONGEST_IDENTITY ? short : { organizationid: false };
}
