import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import { later } from '../../../common/index.js';
import { isUnfit, pastValidator } from '../../../database/index.js';
import {
  COLLECTION_OF,
  IDENTITY_TEXTS,
  type Kind,
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
  rightBehind,
  type AppShare,
} from '../../protocol/index.js';
import { inSlices, Ledger, recordsUnder, IncompleteIdentities, type TermAtWork } from '../../store/index.js';
import { Claimants } from './claimants.js';
import { type RecordsToStamp, StampsAbove, transactionWithin } from './stamps-above.js';

const AT_ONCE = 100;

/** Behind which place of the log is looked, and the fences there. */
interface Behind {
  at: LogPlace;
  fences: KnownFences;
}

/** Lives of one application that came back, and above what their records are stamped: their tombstones, and the fence. */
interface Resurrected {
  lives: Life[];
  above: Date | undefined;
}

interface PresentIdentityOf extends Omit<Identity, 'kind'> {
  _id: mongo.ObjectId;
}

/**
 * Rule 4: where a tombstone and a record exist under one `id`, in one transaction the entry is alive again and the
 * record stamped above both, so that no consumer takes the old delete for newer than the record.
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
   * Learns what was decided of identities. Those that the ledger holds for dead come back by rule 4. Answers the numbers that
   * have to wait, since another record lives there.
   */
  async learn(kind: Kind, changes: LedgerChange[], fences: KnownFences, term: TermAtWork): Promise<Rival[]> {
    const left = await this.ledger.learn(changes);
    const numbers = left.filter(({ isNumber }) => isNumber);
    await this.raise(
      kind,
      left.filter(({ isNumber }) => !isNumber),
      fences,
      term,
    );
    return numbers.length === 0 ? [] : this.bringNumbers(kind, numbers, fences, term);
  }

  /**
   * Ends what rivals wait for and is not there any more. Where an event is still to tell of that end, it comes a little earlier: a
   * moment that has the tombstone has no such record. It counts as of right behind the place, so that a term that was given up cannot
   * write the life once more.
   */
  async endVacant(kind: Kind, rivals: Rival[], at: LogPlace): Promise<void> {
    if (rivals.length === 0) return;
    const vacant = await this.claimants.vacant(kind, rivals);
    if (vacant.length > 0)
      await this.ledger.learn(
        vacant.map((identity) => ({
          ...{ identity, at: rightBehind(at), alive: false as const, shortLived: false },
        })),
      );
  }

  /** Learns records that were found at a look, as of one place in the log. */
  async learnSeen(kind: Kind, lives: Life[], term: TermAtWork): Promise<Rival[]> {
    if (lives.length === 0) return [];
    const settled = await this.claimants.settle(kind, lives, term.share);
    const waiting = await this.learn(kind, settled.lives, new Map(), term);
    const rivals = [...settled.rivals, ...waiting];
    await this.endVacant(kind, rivals, lives[0]!.at);
    return rivals;
  }

  /**
   * Looks whether the identities of these tombstones live again, and if so brings them back: the record with that `id`,
   * else one that has it as a number and was ignored so far, or that the tombstone has ended.
   */
  async look(
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
      const looked = claiming.map((life): Life => ({ ...life, isLooked: true }));
      await this.raise(kind, [...lives, ...looked], fences, term);
    }
  }

  /** A number may not be the only one that claims a dead identity: it waits with the others, and one of them is brought back. */
  private async bringNumbers(
    kind: Kind,
    numbers: Life[],
    fences: KnownFences,
    term: TermAtWork,
  ): Promise<Rival[]> {
    const at = numbers.map((one) => one.at).reduce((latest, one) => (one > latest ? one : latest));
    const rivals = numbers.map(({ owner, identity }) => ({ owner: owner.toHexString(), identity }));
    await this.incomplete.keepRivals(kind, rivals, at, term.share);
    const identities = numbers.map(({ identity }) => identity);
    await this.look(kind, identities, { at, fences }, term);
    const known = await this.ledger.ownedBy(
      kind,
      numbers.map(({ owner }) => owner),
    );
    const names = new Set(known.map((entry) => `${String(entry.owner)} ${identityKey(entry)}`));
    return rivals.filter(({ owner, identity }) => !names.has(`${owner} ${identityKey(identity)}`));
  }

  /**
   * Sets identities alive again. The record may be gone again by now: its delete is still to come. An entry that has
   * expired since it was found is learned anew. One that lives again already keeps its owner: a look may be ahead of the
   * events, and only these tell who takes the place of whom.
   */
  private async raise(kind: Kind, lives: Life[], fences: KnownFences, term: TermAtWork): Promise<void> {
    const once = [...new Map(lives.map((life) => [identityKey(life.identity), life])).values()];
    const held: Life[] = [];
    for (const some of inSlices(once, ({ identity }) => identity.id, AT_ONCE)) {
      held.push(...(await writeUnlessHeld(some, (part, ms) => this.raiseFitting(kind, part, fences, ms))));
      term.showLife();
    }
    await this.forgetRivals(kind, lives, term.share);
    if (held.length > 0) throw new RecordsHeldError(held.map(({ owner }) => owner));
  }

  /** Throws what means a timeout where a record is held for so long (milliseconds). */
  private async raiseFitting(kind: Kind, some: Life[], fences: KnownFences, ms: number): Promise<void> {
    const reborn = await this.together(kind, some, fences, ms).catch(async (error: unknown) => {
      if (!isUnfit(error)) throw error;
      for (const life of some) await this.alone(kind, life, fences, ms);
      return [];
    });
    const known = new Set(reborn.flatMap(({ lives }) => lives));
    await this.ledger.learnUnknown(some.filter((life) => !known.has(life)));
  }

  /** A number that the ledger knows is no rival of anybody. */
  private async forgetRivals(kind: Kind, lives: Life[], share: AppShare): Promise<void> {
    const owners = lives.filter(({ isNumber }) => isNumber).map(({ owner }) => owner);
    const known = await this.ledger.ownedBy(kind, owners, share);
    await this.incomplete.forgetEach(
      kind,
      known.map(({ owner, learned }) => ({ owner: owner!, at: learned })),
      share,
    );
  }

  /** Answers those that were dead until now. */
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
    this.stamps.tell(kind, records, stamped);
    await this.stamps.beside(kind, await this.recordsOf(kind, reborn));
    return reborn;
  }

  /**
   * The records under these identities that are not yet stamped above what is given for each: in the transaction, and once
   * more behind it for one that came between its beginning and its end. A text may have moved on to another record by then; a
   * number is that of its record. One with a number is stamped in the transaction whatever its stamp is: feeds left it out
   * until now, and a mark may have come past its stamp meanwhile.
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

  /** A record that cannot take a stamp is set aside, until it can; its entry lives all the same. */
  private async alone(kind: Kind, life: Life, fences: KnownFences, ms: number): Promise<void> {
    await this.together(kind, [life], fences, ms).catch(async (error: unknown) => {
      if (!isUnfit(error)) throw error;
      const records = await this.recordsOf(kind, await this.reborn([life], fences));
      await this.stamps.setAside(kind, records, error.message);
      await this.revive([life], fences);
    });
  }

  /** Sets the entries alive that are still dead, in one write, and answers those. Each identity is there once. */
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

  /** Those of the lives that the ledger holds for dead, by application, and above what their records have to be stamped. */
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

  /** The records that stand under these identities, by identity. */
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
    return this.connection.collection(COLLECTION_OF[kind]);
  }
}
