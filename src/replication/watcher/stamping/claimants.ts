import { Injectable } from '@nestjs/common';
import { InjectConnection, InjectModel } from '@nestjs/mongoose';
import { type Connection, type Model, mongo } from 'mongoose';
import type { Kind } from '../../../kinds/index.js';
import { recordsIn, idTextAt, isNumberText, type Tenant } from '../../../record/index.js';
import {
  type Claims,
  type DeadIdentity,
  type Holders,
  identitiesByTenant,
  type Identity,
  identityKey,
  type Life,
  type Rival,
  type LogPlace,
  type AppShare,
} from '../../protocol/index.js';
import {
  inSlices,
  IncompleteIdentities,
  Ledger,
  LEDGER_MODEL,
  type LedgerEntry,
  type TermAtWork,
} from '../../store/index.js';

/** Records that claim identities: those that own them from now on, and those that wait. */
interface Settled {
  lives: Life[];
  rivals: Rival[];
}

/**
 * The records that claim one identity: one whose `id` is the text, and any number of records whose `id` is a number with
 * that text (contract §4). The ledger has one of them as the owner. The others wait as incomplete identities: these are the
 * rivals.
 */
@Injectable()
export class Claimants {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    @InjectModel(LEDGER_MODEL) private readonly entries: Model<LedgerEntry>,
    private readonly incomplete: IncompleteIdentities,
    private readonly ledger: Ledger,
  ) {}

  /**
   * Returns the owners of the identities that numeric `id`s claim; of the identities that texts claim, only owners with
   * a numeric `id`. Only a text that is a number can have such an owner.
   */
  async holders(kind: Kind, { numbers, texts }: Claims): Promise<Holders> {
    const holders: Holders = new Map();
    await this.find(kind, numbers, {}, holders);
    const decimal = texts.filter(({ id }) => isNumberText(id));
    if (decimal.length > 0 && (await this.anyNumberLives(kind)))
      await this.find(kind, decimal, { isNumber: true }, holders);
    return holders;
  }

  /**
   * Decides what the ledger has to learn about records that were read as of one place in the log. Of several records
   * that claim one identity, the one whose `id` is text owns it; without such a record, one whose `id` is a number. An
   * owner with a numeric `id` dies before a text takes its place. If it still claims the identity, it waits from then
   * on. Rivals are stored.
   */
  async settle(kind: Kind, lives: Life[], share: AppShare): Promise<Settled> {
    const numbers = lives.filter(({ isNumber }) => isNumber);
    const texts = lives.filter(({ isNumber }) => !isNumber);
    const holders = await this.holders(kind, { numbers: identitiesOf(numbers), texts: identitiesOf(texts) });
    const displaced: Rival[] = [];
    const take = ({ identity, owner, isNumber }: Life) =>
      holders.set(identityKey(identity), { owner: owner.toHexString(), ...(isNumber && { isNumber }) });
    const named = texts.map((life): Life => {
      const { identity, owner } = life;
      const holder = holders.get(identityKey(identity));
      take(life);
      if (!holder?.isNumber || holder.owner === owner.toHexString()) return life;
      displaced.push({ owner: holder.owner, identity });
      return { ...life, afterDeath: true };
    });
    const rivals = await this.stillClaiming(kind, displaced);
    const living = numbers.filter((life) => {
      const owner = life.owner.toHexString();
      const isFree = (holders.get(identityKey(life.identity))?.owner ?? owner) === owner;
      if (isFree) take(life);
      else rivals.push({ owner, identity: life.identity });
      return isFree;
    });
    if (rivals.length > 0) await this.incomplete.keepRivals(kind, rivals, lives[0]!.at, share);
    return { lives: [...named, ...living], rivals };
  }

  /**
   * Returns one new life for each of these dead identities that records with a numeric `id` claim: that of the record
   * that the death has ended, if its `id` is still the same, otherwise that of a rival. If the death has a later place
   * than `at`, the life gets that place, because the record is read after both.
   */
  async next(kind: Kind, identities: DeadIdentity[], at: LogPlace, term: TermAtWork): Promise<Life[]> {
    const ended = await this.stillClaiming(kind, rivalsThatEnded(identities));
    const owners = new Map(ended.map(({ owner, identity }) => [identityKey(identity), owner]));
    const others = identities.filter((identity) => !owners.has(identityKey(identity)));
    const lives = ended.map(({ owner, identity }) => numberAs(identity, new mongo.ObjectId(owner), at));
    for (const { ids, ...tenant } of identitiesByTenant(others)) {
      for (const id of await this.incomplete.withRivals(kind, tenant, ids)) {
        const owner = await this.firstWith(kind, tenant, id, term);
        if (owner !== undefined) lives.push(numberAs({ kind, ...tenant, id }, owner, at));
      }
    }
    return this.ledger.livesAfterDeaths(lives);
  }

  /**
   * Returns the identities that rivals wait for and that their owners no longer have. Possibly no event reports the end
   * of such an owner, because an abandoned term may have stored it after its record was gone.
   */
  async vacant(kind: Kind, rivals: Rival[]): Promise<Identity[]> {
    const claimed = new Map(rivals.map(({ identity }) => [identityKey(identity), identity]));
    const holders: Holders = new Map();
    await this.find(kind, [...claimed.values()], {}, holders);
    const held = [...holders].map(([key, { owner }]) => ({ owner, identity: claimed.get(key)! }));
    const still = new Set(
      (await this.stillClaiming(kind, held)).map(({ identity }) => identityKey(identity)),
    );
    return held.map(({ identity }) => identity).filter((identity) => !still.has(identityKey(identity)));
  }

  /** Returns the rivals that still claim an identity which the ledger knows under another record, or not at all. */
  async unlearned(kind: Kind, rivals: Rival[]): Promise<Rival[]> {
    const still = await this.stillClaiming(kind, rivals);
    const holders: Holders = new Map();
    await this.find(
      kind,
      still.map(({ identity }) => identity),
      {},
      holders,
    );
    return still.filter(({ owner, identity }) => holders.get(identityKey(identity))?.owner !== owner);
  }

  /** Whether any owner has a numeric `id`: one lookup in an index that contains only such entries. */
  async anyNumberLives(kind: Kind): Promise<boolean> {
    const found = await this.entries.collection.findOne({ kind, isNumber: true }, { projection: { _id: 1 } });
    return found !== null;
  }

  /**
   * Returns the first rival whose `id` is still that number. Others may have been deleted or changed in the same batch
   * as the tombstone, which no further event reports. A change after this read causes an event.
   */
  private async firstWith(
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

  /** Returns the rivals whose record still exists, and whose `id` still has the text of the identity. */
  private async stillClaiming(kind: Kind, rivals: Rival[]): Promise<Rival[]> {
    const still: Rival[] = [];
    for (const { ids, ...tenant } of identitiesByTenant(rivals.map(({ identity }) => identity))) {
      const wanted = new Set(ids);
      const some = rivals.filter(
        ({ identity: { organizationid, appid, id } }) =>
          organizationid === tenant.organizationid && appid === tenant.appid && wanted.has(id),
      );
      const owners = some.map(({ owner }) => new mongo.ObjectId(owner));
      const known = await this.idsOf(kind, tenant, owners);
      still.push(...some.filter(({ owner, identity }) => known.get(owner) === identity.id));
    }
    return still;
  }

  /** The text under which consumers may know each of these records now, by the hex of its `_id`. */
  private async idsOf(kind: Kind, tenant: Tenant, owners: mongo.ObjectId[]): Promise<Map<string, unknown>> {
    const found = await recordsIn(this.connection, kind)
      .aggregate<{ _id: mongo.ObjectId; id: unknown }>(
        [{ $match: { _id: { $in: owners }, ...tenant } }, { $project: { id: idTextAt('$id') } }],
        { hint: { _id: 1 } },
      )
      .toArray();
    return new Map(found.map(({ _id, id }) => [_id.toHexString(), id]));
  }

  private async find(kind: Kind, claimed: Identity[], which: mongo.Document, into: Holders): Promise<void> {
    for (const some of inSlices(claimed, ({ id }) => id)) {
      for (const { organizationid, appid, ids } of identitiesByTenant(some)) {
        const query = { organizationid, appid, kind, id: { $in: ids }, alive: true, ...which };
        for (const entry of await this.entries.collection.find<LedgerEntry>(query).toArray())
          into.set(identityKey(entry), {
            owner: String(entry.owner),
            ...(entry.isNumber && { isNumber: true }),
          });
      }
    }
  }
}

function rivalsThatEnded(identities: DeadIdentity[]): Rival[] {
  return identities.flatMap(({ organizationid, appid, kind, id, number }) =>
    number ? [{ owner: number.toHexString(), identity: { organizationid, appid, kind, id } }] : [],
  );
}

function numberAs(identity: Identity, owner: mongo.ObjectId, at: LogPlace): Life {
  return { identity, at, alive: true, owner, isNumber: true };
}

function identitiesOf(lives: Life[]): Identity[] {
  return lives.map(({ identity }) => identity);
}
