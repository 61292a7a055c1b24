import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import { later } from '../../../platform/common/index.js';
import { isUnfit, pastValidator, transactionWithin } from '../../../platform/database/index.js';
import type { Kind } from '../../../kinds/index.js';
import {
  recordsIn,
  IDENTITY_TEXTS,
  LONGEST_SEARCH_MS,
  needsStamp,
  RecordsHeldError,
  writeUnlessHeld,
} from '../../../record/index.js';
import {
  type DeadIdentity,
  identitiesByTenant,
  type Identity,
  identityKey,
  type Life,
  type LedgerChange,
  type Rival,
  type KnownFences,
  markName,
  type LogPlace,
  rightAfter,
  type AppShare,
} from '../../protocol/index.js';
import { inSlices, Ledger, recordsUnder, IncompleteIdentities, type TermAtWork } from '../../store/index.js';
import { Claimants } from './claimants.js';
import { type RecordsToStamp, StampsAbove } from './stamps-above.js';

const AT_ONCE = 100;

/** The place in the log after which the records are read, and the fences at that place. */
interface Behind {
  at: LogPlace;
  fences: KnownFences;
}

/**
 * Resurrected lives of one application, and the time above which their records are stamped: the latest of the tombstones and
 * the fence.
 */
interface Resurrected {
  lives: Life[];
  above: Date | undefined;
}

type PresentIdentityOf = Omit<Identity, 'kind'> & { _id: mongo.ObjectId };

/**
 * Rule 4: if a tombstone and a record exist under one `id`, one transaction sets the entry alive and stamps the record above
 * the tombstone and the fence, so that no consumer takes the old delete for newer than the record.
 */
@Injectable()
export class Resurrections {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly ledger: Ledger,
    private readonly claimants: Claimants,
    private readonly incomplete: IncompleteIdentities,
    private readonly stamps: StampsAbove,
  ) {}

  /**
   * Learns what was decided about identities. Those that are dead in the ledger are resurrected by rule 4, also a number that
   * was a text in this batch: a moment of the batch may show the text, so its delete must leave a tombstone. Returns the
   * records with a numeric `id` that have to wait, because another record owns their identity.
   */
  async learn(kind: Kind, changes: LedgerChange[], fences: KnownFences, term: TermAtWork): Promise<Rival[]> {
    const left = await this.ledger.learn(changes);
    const isRaised = ({ isNumber, wasText }: Life) => !isNumber || wasText === true;
    await this.raise(kind, left.filter(isRaised), fences, term);
    const waiting = left.filter(({ isNumber }) => isNumber);
    const numbers = await this.ledger.withoutOwners(kind, waiting);
    return numbers.length === 0 ? [] : this.bringNumbers(kind, numbers, fences, term);
  }

  /**
   * Ends the owners that rivals wait for and that no longer exist. If an event is still to report that end, the end
   * takes effect slightly before the event, which is correct: no moment that contains the tombstone contains such a
   * record. The death has a place right after `at`, so that an abandoned term cannot write the life again.
   */
  async endVacant(kind: Kind, rivals: Rival[], at: LogPlace): Promise<void> {
    if (rivals.length === 0) return;
    const vacant = await this.claimants.vacant(kind, rivals);
    if (vacant.length > 0)
      await this.ledger.learn(
        vacant.map((identity) => ({
          ...{ identity, at: rightAfter(at), alive: false as const, shortLived: false },
        })),
      );
  }

  /** Learns records that were read as of one place in the log. Returns the rivals among them, and displaced owners. */
  async learnSeen(kind: Kind, lives: Life[], term: TermAtWork): Promise<Rival[]> {
    if (lives.length === 0) return [];
    const settled = await this.claimants.settle(kind, lives, term.share);
    const waiting = await this.learn(kind, settled.lives, new Map(), term);
    const rivals = [...settled.rivals, ...waiting];
    await this.endVacant(kind, rivals, lives[0]!.at);
    return rivals;
  }

  /**
   * Checks whether the identities of these tombstones live again, and resurrects those that do: with the record that
   * has the text as its `id`, otherwise with one that has it as a number: the last owner, or a record that was ignored
   * so far. Records that a transaction holds are set aside, because the tombstones do not name them.
   */
  async review(
    kind: Kind,
    identities: DeadIdentity[],
    { at, fences }: Behind,
    term: TermAtWork,
  ): Promise<void> {
    for (const some of inSlices(identities, ({ id }) => id)) {
      const standing = await this.standing(kind, some);
      const lives = some.flatMap((identity): Life[] => {
        const owner = standing.get(identityKey(identity))?._id;
        return owner === undefined ? [] : [{ identity, at, alive: true, owner, isLooked: true }];
      });
      const others = some.filter((identity) => !standing.has(identityKey(identity)));
      const claiming = await this.claimants.next(kind, others, at, term);
      const reviewed = claiming.map((life): Life => ({ ...life, isLooked: true }));
      const raised = this.raise(kind, [...lives, ...reviewed], fences, term);
      await raised.catch((error: unknown) => this.stamps.setAsideHeld(kind, error));
    }
  }

  /** Several records with a numeric `id` may claim an identity. All are stored as rivals, and one is resurrected. */
  private async bringNumbers(
    kind: Kind,
    numbers: Life[],
    fences: KnownFences,
    term: TermAtWork,
  ): Promise<Rival[]> {
    const at = numbers.map((one) => one.at).reduce((latest, one) => (one > latest ? one : latest));
    await this.incomplete.keepRivals(kind, numbers.map(asRival), at, term.share);
    const identities = numbers.map(({ identity }) => identity);
    await this.review(kind, identities, { at, fences }, term);
    return (await this.ledger.withoutOwners(kind, numbers)).map(asRival);
  }

  /**
   * Sets identities alive again. If a record is gone by now, the event of its delete is still to come. An entry that
   * has expired since it was found is learned anew. An entry that already lives keeps its owner: a read may be ahead of
   * the events, and only events decide which record replaces which.
   */
  private async raise(kind: Kind, lives: Life[], fences: KnownFences, term: TermAtWork): Promise<void> {
    const once = [...new Map(lives.map((life) => [identityKey(life.identity), life])).values()];
    const held: Life[] = [];
    const end = performance.now() + LONGEST_SEARCH_MS;
    const write = (part: Life[], ms: number) => this.raiseFitting(kind, part, fences, ms);
    for (const some of inSlices(once, ({ identity }) => identity.id, AT_ONCE)) {
      held.push(...(await writeUnlessHeld(some, write, end)));
      term.showLife();
    }
    await this.forgetRivals(kind, lives, term.share);
    if (held.length > 0) throw new RecordsHeldError(held.map(({ owner }) => owner));
  }

  /** Throws a timeout error if a record is held for `ms` milliseconds. */
  private async raiseFitting(kind: Kind, some: Life[], fences: KnownFences, ms: number): Promise<void> {
    const reborn = await this.together(kind, some, fences, ms).catch(async (error: unknown) => {
      if (!isUnfit(error)) throw error;
      for (const life of some) await this.alone(kind, life, fences, ms);
      return [];
    });
    const known = new Set(reborn.flatMap(({ lives }) => lives));
    await this.ledger.learnUnknown(some.filter((life) => !known.has(life)));
  }

  /** A record with a numeric `id` that the ledger knows as an owner is no longer a rival. */
  private async forgetRivals(kind: Kind, lives: Life[], share: AppShare): Promise<void> {
    const owners = lives.filter(({ isNumber }) => isNumber).map(({ owner }) => owner);
    const known = await this.ledger.ownedBy(kind, owners, share);
    await this.incomplete.forgetEach(
      kind,
      known.map(({ owner, learned }) => ({ owner: owner!, at: learned })),
      share,
    );
  }

  /** Resurrects lives in one transaction. Returns those that were dead until now. */
  private async together(kind: Kind, lives: Life[], fences: KnownFences, ms: number): Promise<Resurrected[]> {
    let reborn: Resurrected[] = [];
    let records: RecordsToStamp[] = [];
    let stamped = 0;
    await pastValidator((options) =>
      transactionWithin(this.connection.getClient(), ms, async (session) => {
        reborn = await this.revive(lives, fences, session);
        records = await this.recordsOf(kind, reborn, session);
        stamped = await this.stamps.within(kind, records, { session, ...options });
      }),
    );
    this.stamps.note(kind, records, stamped);
    await this.stamps.beside(kind, await this.recordsOf(kind, reborn));
    return reborn;
  }

  /**
   * Returns the records under these identities that are not yet stamped above the given time. It is called in the
   * transaction and again after it, because another record with the text as its `id` may have been added in between. A
   * life with a numeric `id` is always that of its owner. In the transaction, its record is returned with any stamp:
   * feeds have omitted the record until now, and a mark may have passed its stamp meanwhile.
   */
  private async recordsOf(
    kind: Kind,
    reborn: Resurrected[],
    session?: mongo.ClientSession,
  ): Promise<RecordsToStamp[]> {
    const records: RecordsToStamp[] = [];
    for (const { lives, above } of reborn) {
      const where = { $expr: needsStamp(above) };
      const texts = lives.filter(({ isNumber }) => !isNumber).map(({ identity }) => identity);
      const standing = await this.standing(kind, texts, { where, session });
      const numbers = lives.filter(({ isNumber }) => isNumber).map(({ owner }) => owner);
      records.push(
        { ids: [...standing.values()].map(({ _id }) => _id), above, where },
        { ids: numbers, above, where: session ? {} : where },
      );
    }
    return records.filter(({ ids }) => ids.length > 0);
  }

  /** A record that cannot take a stamp is set aside until it can. Its entry is set alive anyway. */
  private async alone(kind: Kind, life: Life, fences: KnownFences, ms: number): Promise<void> {
    await this.together(kind, [life], fences, ms).catch(async (error: unknown) => {
      if (!isUnfit(error)) throw error;
      const records = await this.recordsOf(kind, await this.reborn([life], fences));
      await this.stamps.setAside(kind, records, error.message);
      await this.revive([life], fences);
    });
  }

  /** Sets the entries alive that are still dead, in one write, and returns them. Each identity occurs once. */
  private async revive(
    lives: Life[],
    fences: KnownFences,
    session?: mongo.ClientSession,
  ): Promise<Resurrected[]> {
    const reborn = await this.reborn(lives, fences, session);
    await this.ledger.revive(
      reborn.flatMap((one) => one.lives),
      session,
    );
    return reborn;
  }

  /**
   * Returns the lives that the ledger holds as dead, by application, and the time above which their records have to be
   * stamped.
   */
  private async reborn(
    lives: Life[],
    fences: KnownFences,
    session?: mongo.ClientSession,
  ): Promise<Resurrected[]> {
    const tombstones = await this.ledger.tombstonesOf(lives, session);
    const reborn = new Map<string, Resurrected>();
    for (const life of lives) {
      const tombstone = tombstones.get(identityKey(life.identity));
      if (tombstone === undefined) continue;
      const name = markName(life.identity);
      const { lives: others, above } = reborn.get(name) ?? { lives: [], above: fences.get(name) };
      reborn.set(name, { lives: [...others, life], above: later(above, tombstone.lastupdated) });
    }
    return [...reborn.values()];
  }

  /** The records with these identities, by identity. */
  private async standing(
    kind: Kind,
    identities: Identity[],
    { where, session }: { where?: mongo.Document; session?: mongo.ClientSession | undefined } = {},
  ): Promise<Map<string, PresentIdentityOf>> {
    const found = new Map<string, PresentIdentityOf>();
    const isOwner = { _id: { $type: 'objectId' as const }, ...where };
    const options = { ...(session && { session }), projection: IDENTITY_TEXTS, where: isOwner };
    for (const some of identitiesByTenant(identities)) {
      for (const record of await recordsUnder<PresentIdentityOf>(this.records(kind), some, options))
        found.set(identityKey({ ...record, kind }), record);
    }
    return found;
  }

  private records(kind: Kind): mongo.Collection {
    return recordsIn(this.connection, kind);
  }
}

function asRival({ owner, identity }: Life): Rival {
  return { owner: owner.toHexString(), identity };
}
