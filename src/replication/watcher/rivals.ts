import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import { COLLECTION_OF, idTextAt, type Kind, type Tenant } from '../../record/index.js';
import { type Identity, Ledger, type Life, type Place, Strays } from '../ledger/index.js';
import { identitiesByTenant } from './by-tenant.js';

/** Records whose `id` is a number under whose text another record was known: one of them may take its place. */
@Injectable()
export class Rivals {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly strays: Strays,
    private readonly ledger: Ledger,
  ) {}

  /** One for each of these identities that has any and is dead. */
  async claiming(kind: Kind, identities: Identity[], at: Place): Promise<Life[]> {
    const lives: Life[] = [];
    for (const { organizationid, appid, ids } of identitiesByTenant(identities)) {
      for (const [id, owner] of await this.standing(kind, { organizationid, appid }, ids)) {
        const identity = { kind, organizationid, appid, id };
        lives.push({ identity, at, alive: true, owner, isNumber: true });
      }
    }
    return this.ledger.deadAmong(lives);
  }

  /**
   * One that still has its number, for each `id`. Others may be gone with the very batch that has the tombstone, and
   * nobody would hear of that again; of what becomes of one after this look, an event tells.
   */
  private async standing(kind: Kind, tenant: Tenant, ids: string[]): Promise<Map<string, mongo.ObjectId>> {
    const standing = new Map<string, mongo.ObjectId>();
    const gone: mongo.ObjectId[] = [];
    for (let open = ids; open.length > 0;) {
      const found = [...(await this.strays.rivalsFor(kind, tenant, open, gone))];
      const known = await this.idsOf(
        kind,
        tenant,
        found.map(([, owner]) => owner),
      );
      for (const [id, owner] of found) if (known.get(owner.toHexString()) === id) standing.set(id, owner);
      const lost = found.filter(([id]) => !standing.has(id));
      gone.push(...lost.map(([, owner]) => owner));
      open = lost.map(([id]) => id);
    }
    return standing;
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
