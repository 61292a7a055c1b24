import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import { type Connection, mongo } from 'mongoose';
import { isDatabaseAway, isMomentGone, readAsOf, type SnapshotOptions } from '../../database/index.js';
import { COLLECTION_OF, IDENTITY_TEXTS } from '../../record/index.js';
import { type Identity, identityOf, type StoredIdentity } from '../ledger/index.js';
import type { WatchedEvent, WrittenEvent } from '../log/index.js';
import type { ConcernedRecord } from './set-aside.schema.js';

/** How many records are read at the same time. */
const AT_ONCE = 10;
/** An identity of many kilobytes would not fit in beside others. */
const LONGEST_IDENTITY = 4096;

/** Reads the identities that records had as of events that were set aside: consumers may be shown these. */
@Injectable()
export class ShownIdentities {
  constructor(@InjectConnection() private readonly connection: Connection) {}

  /** The identity after each event; events after which there was none are absent. */
  async behind(events: WatchedEvent[]): Promise<Map<WatchedEvent, Identity>> {
    const written = events.filter((event) => event.type === 'written');
    const found = new Map<WatchedEvent, Identity>();
    for (let start = 0; start < written.length; start += AT_ONCE)
      await Promise.all(
        written.slice(start, start + AT_ONCE).map(async (event) => {
          const identity = await this.of(event);
          if (identity !== undefined && isShort(identity)) found.set(event, identity);
        }),
      );
    return found;
  }

  /** The current identity; undefined if the record is gone or cannot be read. */
  async now({ kind, owner }: ConcernedRecord): Promise<Identity | undefined> {
    const found = await this.connection
      .collection(COLLECTION_OF[kind])
      .findOne<StoredIdentity>({ _id: owner }, { projection: { _id: 0, ...IDENTITY_TEXTS } })
      .catch((error: unknown) => {
        if (isDatabaseAway(error)) throw error;
        return null;
      });
    const identity = found === null ? undefined : identityOf(kind, owner, found);
    return identity && isShort(identity) ? identity : undefined;
  }

  /** A whole event contains it. If its moment has expired, the current record is read: no page shows older states. */
  private async of({ kind, owner, at, identity, whole }: WrittenEvent): Promise<Identity | undefined> {
    if (whole) return identityOf(kind, owner, identity);
    const read = (snapshot?: SnapshotOptions) =>
      this.connection
        .collection(COLLECTION_OF[kind])
        .findOne<StoredIdentity>(
          { _id: owner as mongo.ObjectId },
          { ...snapshot, projection: { _id: 0, ...IDENTITY_TEXTS } },
        );
    const found = await readAsOf(this.connection.getClient(), at, read).catch((error: unknown) => {
      if (isMomentGone(error)) return read();
      throw error;
    });
    return found === null ? undefined : identityOf(kind, owner, found);
  }
}

function isShort(identity: Identity): boolean {
  return mongo.BSON.calculateObjectSize(identity) <= LONGEST_IDENTITY;
}
