import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { Model, mongo } from 'mongoose';
import { isNumberText, type Kind } from '../../record/index.js';
import {
  type Claims,
  type Holders,
  identitiesByTenant,
  type Identity,
  identityKey,
  LEDGER_MODEL,
  type LedgerChange,
  type LedgerEntry,
  type Life,
  type Rival,
  IncompleteIdentities,
} from '../ledger/index.js';
import type { TermAtWork } from '../progress/index.js';
import { Restamps } from '../stamping/index.js';
import { inSlices } from '../walk/index.js';
import { IgnoredRecords } from './ignored-records.js';

/**
 * Records whose `id` is stored as a number (contract §4). Consumers know one under its decimal text while the ledger
 * entry of that text is alive with its `_id`, and nothing in the record says so. Hence: the ledger learns of it first, then
 * the record is stamped anew, so that a page as of a moment in between is followed by one that shows the record.
 */
@Injectable()
export class NumericIds {
  constructor(
    @InjectModel(LEDGER_MODEL) private readonly entries: Model<LedgerEntry>,
    private readonly incomplete: IncompleteIdentities,
    private readonly restamps: Restamps,
    private readonly ignored: IgnoredRecords,
  ) {}

  /** Who stands in the way of claims. Only texts of digits can be those of numbers. */
  async holders(kind: Kind, { numbers, texts }: Claims): Promise<Holders> {
    const holders: Holders = new Map();
    await this.find(kind, numbers, {}, holders);
    const decimal = texts.filter(({ id }) => isNumberText(id));
    if (decimal.length > 0 && (await this.anyLives(kind)))
      await this.find(kind, decimal, { isNumber: true }, holders);
    return holders;
  }

  /**
   * What a pass has found, as it may live: of several records that claim one identity at most one that has a number. The
   * others are rivals from here on, and so is a number that the ledger knows under the text of another record.
   */
  async settle(kind: Kind, lives: Life[]): Promise<Life[]> {
    const numbers = lives.filter(({ isNumber }) => isNumber);
    const texts = lives.filter(({ isNumber }) => !isNumber);
    const holders = await this.holders(kind, { numbers: identitiesOf(numbers), texts: identitiesOf(texts) });
    const rivals = new Map<string, Rival>();
    const take = ({ identity, owner, isNumber }: Life) =>
      holders.set(identityKey(identity), { owner: owner.toHexString(), ...(isNumber && { isNumber }) });
    for (const life of texts) {
      const holder = holders.get(identityKey(life.identity));
      if (holder?.isNumber && holder.owner !== life.owner.toHexString())
        rivals.set(holder.owner, { owner: holder.owner, identity: life.identity });
      take(life);
    }
    const living = numbers.filter((life) => {
      const owner = life.owner.toHexString();
      const isFree = (holders.get(identityKey(life.identity))?.owner ?? owner) === owner;
      if (isFree) take(life);
      else rivals.set(owner, { owner, identity: life.identity });
      return isFree;
    });
    if (rivals.size === 0) return lives;
    await this.keep(kind, [...rivals.values()]);
    return [...texts, ...living];
  }

  /**
   * What the ledger has to learn of a single record, while consumers read: where a number lives under its text, the end
   * of that comes first, and rule 4 brings back the record. Nothing where the record itself is a rival.
   */
  async became(kind: Kind, life: Life): Promise<LedgerChange[]> {
    if (life.isNumber) return this.settle(kind, [life]);
    const { identity, owner, at } = life;
    const [holder] = (await this.holders(kind, { numbers: [], texts: [identity] })).values();
    if (holder === undefined || holder.owner === owner.toHexString()) return [life];
    await this.keep(kind, [{ owner: holder.owner, identity }]);
    return [{ identity, at, alive: false, shortLived: false }];
  }

  /** Forgets records that are no incomplete any more, rivals among them. */
  async forget(kind: Kind, owners: mongo.ObjectId[]): Promise<void> {
    await this.incomplete.forget(kind, owners);
    if (this.ignored.hasRivals(kind)) await this.ignored.hearRivals(kind, []);
  }

  /** What feeds have left out so far comes in the next window. */
  async reveal(kind: Kind, ids: mongo.ObjectId[], term: TermAtWork): Promise<void> {
    if (ids.length > 0) await this.restamps.records(kind, ids, 'number', term);
  }

  /** Whether any record is known by a number: one look at an index of nothing else. */
  async anyLives(kind: Kind): Promise<boolean> {
    const found = await this.entries.collection.findOne({ kind, isNumber: true }, { projection: { _id: 1 } });
    return found !== null;
  }

  private async keep(kind: Kind, rivals: Rival[]): Promise<void> {
    await this.incomplete.keepRivals(kind, rivals);
    await this.ignored.hearRivals(kind, rivals);
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

function identitiesOf(lives: Life[]): Identity[] {
  return lives.map(({ identity }) => identity);
}
