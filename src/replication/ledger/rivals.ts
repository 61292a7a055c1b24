import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import { COLLECTION_OF, idTextAt, type Kind, type Tenant } from '../../record/index.js';
import type { LogPlace, TermAtWork } from '../progress/index.js';
import type { Life } from './changes.js';
import { identitiesByTenant } from './identities-by-tenant.js';
import type { Identity } from './identity.js';
import { IncompleteIdentities } from './incomplete-identities.js';
import { Ledger } from './ledger.js';

/** Records whose `id` is a number under whose text another record was known: one of them may take its place. */
@Injectable()
export class Rivals {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly incomplete: IncompleteIdentities,
    private readonly ledger: Ledger,
  ) {}

  /** One for each of these identities that has any and is dead. */
  async claiming(kind: Kind, identities: Identity[], at: LogPlace, term: TermAtWork): Promise<Life[]> {
    const lives: Life[] = [];
    for (const { ids, ...tenant } of identitiesByTenant(identities)) {
      for (const id of await this.incomplete.withRivals(kind, tenant, ids)) {
        const owner = await this.standing(kind, tenant, id, term);
        const identity = { kind, ...tenant, id };
        if (owner !== undefined) lives.push({ identity, at, alive: true, owner, isNumber: true });
      }
    }
    return this.ledger.deadAmong(lives);
  }

  /**
   * One that still has its number. Others may be gone with the very batch that has the tombstone, and nobody would hear
   * of that again; of what becomes of one after this look, an event tells.
   */
  private async standing(
    kind: Kind,
    tenant: Tenant,
    id: string,
    term: TermAtWork,
  ): Promise<mongo.ObjectId | undefined> {
    for await (const owners of this.incomplete.rivalsFor(kind, tenant, id)) {
      const known = await this.idsOf(kind, tenant, owners);
      const owner = owners.find((one) => known.get(one.toHexString()) === id);
      if (owner !== undefined) return owner;
      term.showLife();
    }
    return undefined;
  }

  /** Under which text consumers may know each of these records now, by the hex of its `_id`. */
  private async idsOf(kind: Kind, tenant: Tenant, owners: mongo.ObjectId[]): Promise<Map<string, unknown>> {
    const found = await this.connection
      .collection(COLLECTION_OF[kind])
      .aggregate<{ _id: mongo.ObjectId; id: unknown }>([
        { $match: { _id: { $in: owners }, ...tenant } },
        { $project: { id: idTextAt('$id') } },
      ])
      .toArray();
    return new Map(found.map(({ _id, id }) => [_id.toHexString(), id]));
  }
}
