import { Injectable } from '@nestjs/common';
import { isObjectId, type Kind } from '../../../record/index.js';
import type { mongo } from 'mongoose';
import { type DeadIdentity, IncompleteIdentities, Ledger } from '../../ledger/index.js';
import type { WatchedEvent, WrittenEvent } from '../../log/index.js';
import type { TermAtWork } from '../../progress/index.js';
import { Claimants } from '../../stamping/index.js';
import { claimsIn } from '../rules/claims.js';
import type { KindEvent } from '../rules/decide.js';
import type { Knowledge, Owned } from '../rules/knowledge.js';
import { Completion } from './completion.js';

/** What is known of the records of a batch before it, and its events with the names that they lack. */
export interface KnowledgeRead extends Pick<Knowledge, 'owned' | 'partials' | 'holders'> {
  events: KindEvent[];
}

/** Reads what the rules need to know of a batch: of what the batch concerns, and of nothing else. */
@Injectable()
export class KnowledgeReader {
  constructor(
    private readonly ledger: Ledger,
    private readonly incomplete: IncompleteIdentities,
    private readonly completion: Completion,
    private readonly claimants: Claimants,
  ) {}

  /** Whose the tombstones are that the events tell of: what an entry is about never changes. */
  async tombstonesIn(events: WatchedEvent[]): Promise<Map<string, DeadIdentity>> {
    const seen = events.flatMap((event) => (event.type === 'tombstone' ? [event.entry] : []));
    const entries = await this.ledger.among(seen);
    return new Map(entries.map((entry) => [entry._id.toHexString(), entry]));
  }

  async read(
    kind: Kind,
    events: KindEvent[],
    owners: mongo.ObjectId[],
    term: TermAtWork,
  ): Promise<KnowledgeRead> {
    const owned = await this.owned(kind, owners);
    const partials = await this.incomplete.among(kind, owners);
    const named = await this.completion.complete(kind, events, { owned, partials }, term);
    const holders = await this.claimants.holders(kind, claimsIn(kind, named, { owned, partials }));
    return { events: named, owned, partials, holders };
  }

  private async owned(kind: Kind, owners: mongo.ObjectId[]): Promise<Owned> {
    const owned: Owned = new Map();
    for (const entry of await this.ledger.ownedBy(kind, owners)) {
      const key = String(entry.owner);
      owned.set(key, [...(owned.get(key) ?? []), entry]);
    }
    return owned;
  }
}

/** The records that the events are about, each once; what has no ObjectId is no record to anybody. */
export function ownersOf(events: Pick<WrittenEvent, 'owner'>[]): mongo.ObjectId[] {
  const owners = events.map((event) => event.owner).filter(isObjectId);
  return [...new Map(owners.map((owner) => [owner.toHexString(), owner])).values()];
}
