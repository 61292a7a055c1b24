import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import { type Connection, mongo } from 'mongoose';
import { Metrics } from '../../common/index.js';
import { COLLECTION_OF, type Kind, KINDS } from '../../record/index.js';
import { Channels, Ledger, type PartialIdentity, Strays } from '../ledger/index.js';
import { carriedChannels, channelsGot } from './carried-channels.js';
import { EmailKeys } from './email-keys.js';
import type { WatchedEvent } from './events.js';
import { IgnoredRecords } from './ignored-records.js';
import { Mender } from './mender.js';
import { type Look, PRESENT, type PresentRecord } from './mending.js';
import { ledgerChanges, type Owned, type Partials } from './rules.js';

type RecordEvent = WatchedEvent & { type: 'written' | 'deleted' };

/** Brings about what follows from a batch of events. All of it may be repeated: nothing happens twice. */
@Injectable()
export class Effects {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly ledger: Ledger,
    private readonly strays: Strays,
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
    await this.ignored.hear(kind, events);
    const owners = ownersOf(events);
    const owned = await this.owned(kind, owners);
    const partials: Partials = await this.strays.among(kind, owners);
    if (kind === 'product') await this.channels.learn(channelsGot(events, owned));
    await this.ledger.learn(ledgerChanges(events, owned, partials));
    await this.strays.keep(kind, asStrays(partials));
    const written = ownersOf(events.filter((event) => event.type === 'written'));
    await this.lookAfter(kind, { records: await this.present(kind, written), at: events.at(-1)!.at });
    if (kind === 'member') await this.emailKeys.review();
  }

  private async owned(kind: Kind, owners: mongo.ObjectId[]): Promise<Owned> {
    const owned: Owned = new Map();
    for (const entry of await this.ledger.ownedBy(kind, owners)) {
      const key = String(entry.owner);
      owned.set(key, [...(owned.get(key) ?? []), entry]);
    }
    return owned;
  }

  private async present(kind: Kind, ids: mongo.ObjectId[]): Promise<PresentRecord[]> {
    if (ids.length === 0) return [];
    return this.connection
      .collection(COLLECTION_OF[kind])
      .aggregate<PresentRecord>([{ $match: { _id: { $in: ids } } }, { $project: PRESENT }])
      .toArray();
  }
}

/** The records that the events are about, each once; what has no ObjectId is no record to anybody. */
function ownersOf(events: RecordEvent[]): mongo.ObjectId[] {
  const owners = events.map((event) => event.owner).filter((owner) => owner instanceof mongo.ObjectId);
  return [...new Map(owners.map((owner) => [owner.toHexString(), owner])).values()];
}

function asStrays(partials: Partials): { owner: mongo.ObjectId; partial: PartialIdentity | null }[] {
  return [...partials].map(([key, partial]) => ({ owner: new mongo.ObjectId(key), partial }));
}
