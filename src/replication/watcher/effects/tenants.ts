import { Injectable } from '@nestjs/common';
import { isObjectId, type Kind, KINDS } from '../../../record/index.js';
import { IncompleteIdentities, Ledger } from '../../ledger/index.js';
import type { DeletedEvent, WatchedEvent, WrittenEvent } from '../../log/index.js';

type RecordEvent = WrittenEvent | DeletedEvent;

/** Tells of which applications the records are that events are about. */
@Injectable()
export class Tenants {
  constructor(
    private readonly ledger: Ledger,
    private readonly incomplete: IncompleteIdentities,
  ) {}

  /** By event of a record or hard delete: what it tells itself, else what is known of its record; `''` where that is nothing. */
  async of(events: WatchedEvent[]): Promise<Map<WatchedEvent, string>> {
    const named = new Map<WatchedEvent, string>();
    for (const event of events) if (event.type === 'tombstone') named.set(event, '');
    for (const kind of KINDS) {
      const ofKind = events.filter(
        (event): event is RecordEvent =>
          (event.type === 'written' || event.type === 'deleted') && event.kind === kind,
      );
      const known = await this.known(kind, ofKind);
      for (const event of ofKind) named.set(event, toldIn(event) ?? known.get(String(event.owner)) ?? '');
    }
    return named;
  }

  private async known(kind: Kind, events: RecordEvent[]): Promise<Map<string, string>> {
    const untold = events.filter((event) => toldIn(event) === undefined);
    const owners = untold.map(({ owner }) => owner).filter((owner) => isObjectId(owner));
    const partials = await this.incomplete.among(kind, owners);
    const owned = await this.ledger.ownedBy(kind, owners);
    return new Map([
      ...[...partials].map(([owner, partial]) => [owner, nameOf(partial)] as const),
      ...owned.map((entry) => [String(entry.owner), nameOf(entry)] as const),
    ]);
  }
}

function toldIn(event: RecordEvent): string | undefined {
  if (event.type === 'deleted') return undefined;
  const { organizationid, appid } = event.identity;
  return organizationid === undefined || appid === undefined ? undefined : nameOf({ organizationid, appid });
}

function nameOf({ organizationid, appid }: { organizationid?: unknown; appid?: unknown }): string {
  return JSON.stringify([organizationid, appid]);
}
