import { Injectable } from '@nestjs/common';
import { isObjectId, type Kind } from '../../../record/index.js';
import type { mongo } from 'mongoose';
import { type DeadIdentity, IncompleteIdentities, Ledger } from '../../ledger/index.js';
import type { WatchedEvent } from '../../log/index.js';
import { isPartial, type AppShare, type TermAtWork } from '../../progress/index.js';
import { Claimants } from '../../stamping/index.js';
import { claimsIn } from '../rules/claims.js';
import type { KindEvent } from '../rules/decide.js';
import { ownHalves } from '../rules/halves.js';
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
  async tombstonesIn(events: WatchedEvent[], share: AppShare): Promise<Map<string, DeadIdentity>> {
    const seen = events.flatMap((event) => (event.type === 'tombstone' ? [event.entry] : []));
    const entries = await this.ledger.among(seen, share);
    return new Map(entries.map((entry) => [entry._id.toHexString(), entry]));
  }

  /** Of the share of the term; the events are those that concern it. */
  async read(
    kind: Kind,
    events: KindEvent[],
    tombstones: Knowledge['tombstones'],
    term: TermAtWork,
  ): Promise<KnowledgeRead> {
    const { share } = term;
    const owners = ownersOf(events);
    const owned = await this.owned(kind, owners, share);
    const partials = await this.incomplete.among(kind, owners, share);
    const told = await this.completion.complete(kind, events, { owned, partials }, term);
    const named = isPartial(share) ? ownHalves(told, { owned, partials, tombstones }, share) : told;
    const holders = await this.claimants.holders(kind, claimsIn(kind, named, { owned, partials }));
    return { events: named, owned, partials, holders };
  }

  private async owned(kind: Kind, owners: mongo.ObjectId[], share: AppShare): Promise<Owned> {
    const owned: Owned = new Map();
    for (const entry of await this.ledger.ownedBy(kind, owners, share)) {
      const key = String(entry.owner);
      owned.set(key, [...(owned.get(key) ?? []), entry]);
    }
    return owned;
  }
}

/** The records that the events are about, each once; what has no ObjectId is no record to anybody. */
export function ownersOf(events: KindEvent[]): mongo.ObjectId[] {
  const owners = events.map((event) => ('owner' in event ? event.owner : undefined)).filter(isObjectId);
  return [...new Map(owners.map((owner) => [owner.toHexString(), owner])).values()];
}
