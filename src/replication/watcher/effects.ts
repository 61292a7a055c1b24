import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import { type Connection, mongo } from 'mongoose';
import { Metrics } from '../../common/index.js';
import { CLOCK } from '../../database/index.js';
import { COLLECTION_OF, type Kind, KINDS } from '../../record/index.js';
import { Channels, Ledger } from '../ledger/index.js';
import { carriedChannels, channelsGot } from './carried-channels.js';
import { EmailKeys } from './email-keys.js';
import type { WatchedEvent } from './events.js';
import { IgnoredRecords } from './ignored-records.js';
import { Mender } from './mender.js';
import { type Look, PRESENT, type PresentRecord } from './mending.js';
import { identityOf, ledgerChanges, type Newcomer, type Owned } from './rules.js';

type RecordEvent = WatchedEvent & { type: 'written' | 'deleted' };

/** Brings about what follows from a batch of events. All of it may be repeated: nothing happens twice. */
@Injectable()
export class Effects {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly ledger: Ledger,
    private readonly channels: Channels,
    private readonly mender: Mender,
    private readonly emailKeys: EmailKeys,
    private readonly ignored: IgnoredRecords,
    private readonly metrics: Metrics,
  ) {}

  async of(events: WatchedEvent[]): Promise<void> {
    const ofRecords = events.filter((event) => event.type !== 'upheaval');
    for (const kind of KINDS) {
      const ofKind = ofRecords.filter((event) => event.kind === kind);
      if (ofKind.length > 0) await this.ofKind(kind, ofKind);
    }
    this.metrics.watcherEvents.inc(events.length);
  }

  /** Learns nothing from events but looks after records as they stand; for the pass. */
  async lookAfter(kind: Kind, look: Look): Promise<void> {
    this.ignored.see(kind, look.records);
    await this.mender.mend(kind, look);
    if (kind === 'product') await this.channels.learn(carriedChannels(look.records));
  }

  private async ofKind(kind: Kind, events: RecordEvent[]): Promise<void> {
    const written = distinct(events.filter((event) => event.type === 'written').map((event) => event.owner));
    const deleted = events.filter((event) => event.type === 'deleted').map((event) => event.owner);
    const owned = await this.owned(kind, events);
    if (kind === 'product') await this.channels.learn(channelsGot(events, owned));
    const { changes, newcomers } = ledgerChanges(events, owned);
    await this.ledger.learn(changes);
    this.ignored.forget(kind, deleted);
    const look = { ...(await this.present(kind, written)), at: events.at(-1)!.at };
    await this.learnNewcomers(newcomers, look.records);
    await this.lookAfter(kind, look);
    if (kind === 'member') await this.emailKeys.review();
  }

  private async owned(kind: Kind, events: RecordEvent[]): Promise<Owned> {
    const owners = distinct(events.map((event) => event.owner)).filter(
      (owner) => owner instanceof mongo.ObjectId,
    );
    const owned: Owned = new Map();
    for (const entry of await this.ledger.ownedBy(kind, owners)) {
      const key = String(entry.owner);
      owned.set(key, [...(owned.get(key) ?? []), entry]);
    }
    return owned;
  }

  private async learnNewcomers(newcomers: Newcomer[], records: PresentRecord[]): Promise<void> {
    const standing = new Map(records.map((record) => [String(record._id), record]));
    const learned = newcomers.flatMap(({ kind, owner, at, changed }) => {
      const identity = identityOf(kind, owner, { ...standing.get(String(owner)), ...changed });
      return identity === undefined ? [] : [{ identity, at, alive: true as const, owner }];
    });
    await this.ledger.learn(learned);
  }

  private async present(kind: Kind, ids: unknown[]): Promise<Omit<Look, 'at'>> {
    if (ids.length === 0) return { records: [], clock: new Date(0) };
    const records = await this.connection
      .collection(COLLECTION_OF[kind])
      .aggregate<PresentRecord & { clock: Date }>([
        { $match: { _id: { $in: ids } } },
        { $project: { ...PRESENT, clock: CLOCK } },
      ])
      .toArray();
    return { records, clock: records[0]?.clock ?? new Date(0) };
  }
}

function distinct(ids: unknown[]): unknown[] {
  return [...new Map(ids.map((id) => [String(id), id])).values()];
}
