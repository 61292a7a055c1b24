import { Injectable } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import {
  type PassProgress,
  type LogPlace,
  type Identity,
  identityOf,
  isSame,
  type Life,
  type Rival,
  placeOf,
} from '../../protocol/index.js';
import type { Kind } from '../../../kinds/index.js';
import { recordsIn, IDENTITY_TEXTS } from '../../../record/index.js';
import { IgnoredRecords } from '../repair/ignored-records.js';
import type { PresentRecord } from '../repair/present-record.js';
import { Claimants } from '../stamping/claimants.js';
import { Resurrections } from '../stamping/resurrections.js';
import {
  type IdRange,
  type TermAtWork,
  Ledger,
  LedgerSlices,
  type IncompleteIdentity,
  IncompleteIdentities,
} from '../../store/index.js';

/**
 * One pass over the share of its term. What it learns is knowledge as of `at`, except for numeric ids (see
 * {@link PassNumbers}). `at` is where its stream was opened; for a pass over a kind, where the log ended when it began.
 */
export interface PassRun {
  at: LogPlace;
  progress: PassProgress;
  stop: AbortSignal;
  term: TermAtWork;
  /** The kinds whose records it covers. */
  kinds: readonly Kind[];
  /** Present if the ledger entries of other kinds are left out. */
  isOfKind?: boolean;
  /** Stores the progress. Throws if the term is over. */
  save: (progress: PassProgress) => Promise<void>;
  /**
   * Processes the available events of the pass's own stream, because a pass may write more than the log can hold. A
   * pass over a kind has no stream of its own, and only reads how far the main stream is processed.
   */
  keepUp: () => Promise<void>;
  /** The token up to which the stream is processed. */
  token: () => unknown;
}

type StoredRecord = Pick<PresentRecord, '_id' | 'organizationid' | 'appid' | 'id' | 'isNumber'>;

/**
 * Handles ids that are stored as numbers in a pass. Several records may claim one identity; which of them owns it is
 * decided here, not by a query of the server. A collection without such ids costs one lookup in an empty index for each
 * range.
 *
 * These ids are learned as of the current position of the stream, because their record may have to replace another one
 * whose end the stream has reported since it was opened.
 */
@Injectable()
export class PassNumbers {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly ledger: Ledger,
    private readonly slices: LedgerSlices,
    private readonly incomplete: IncompleteIdentities,
    private readonly resurrections: Resurrections,
    private readonly claimants: Claimants,
    private readonly ignored: IgnoredRecords,
  ) {}

  /**
   * Learns the records of a range whose `id` is text, if one with a numeric `id` owns the identity: text takes
   * precedence.
   */
  async displace(kind: Kind, range: IdRange, run: PassRun): Promise<void> {
    if (!(await this.claimants.anyNumberLives(kind))) return;
    const at = placeIn(run);
    const piece = { range, share: run.term.share };
    for await (const some of this.slices.besideNumbers(kind, piece)) {
      const found = some.map(({ owner, ...identity }): Life => lifeOf({ ...identity, kind }, owner, at));
      const lives = await this.stillThere(kind, await this.ledger.livesAfterNumbers(found));
      for (const together of byPlace(lives)) await this.learnSeen(kind, together, run.term);
    }
  }

  /** Learns those of the records whose `id` is a number. */
  async learn(kind: Kind, records: PresentRecord[], run: PassRun): Promise<void> {
    const at = placeIn(run);
    const found = records.flatMap((record) => {
      const identity = record.isNumber && identityOf(kind, record._id, record);
      return identity ? [{ ...lifeOf(identity, record._id, at), isNumber: true as const }] : [];
    });
    if (found.length === 0) return;
    const rivals = await this.learnSeen(kind, found, run.term);
    const waiting = new Set(rivals.map(({ owner }) => owner));
    const known = found.map(({ owner }) => owner).filter((owner) => !waiting.has(owner.toHexString()));
    await this.ignored.forgetIncomplete(kind, known, at, run.term.share);
  }

  /**
   * Forgets incomplete identities whose record is gone, or no longer has the numeric `id` that they claim. After a lost
   * history no event reports this, and such an identity must not replace a record.
   */
  async forgetStale(kind: Kind, range: IdRange, { at, term }: PassRun): Promise<void> {
    for await (const some of this.incomplete.inRange(kind, range, term.share)) {
      const present = await this.present(
        kind,
        some.map(({ _id }) => _id.owner),
      );
      const stale = some.filter((one) => isStale(kind, one, present.get(one._id.owner.toHexString())));
      await this.incomplete.forgetThese(stale.filter(({ learned = '' }) => learned <= at));
      if (stale.length > 0) await this.ignored.hearRivals(kind, []);
    }
  }

  /** Returns the lives whose record has that text as its `id` now. The stream reports what happened to the others. */
  private async stillThere(kind: Kind, lives: Life[]): Promise<Life[]> {
    const owners = lives.map(({ owner }) => owner);
    const present = await this.present(kind, owners);
    return lives.filter(({ identity, owner }) => {
      const record = present.get(owner.toHexString());
      return (
        record?.isNumber !== true && record !== undefined && isSame(identity, identityOf(kind, owner, record))
      );
    });
  }

  private async present(kind: Kind, owners: mongo.ObjectId[]): Promise<Map<string, StoredRecord>> {
    const found = await recordsIn(this.connection, kind)
      .aggregate<StoredRecord>([{ $match: { _id: { $in: owners } } }, { $project: IDENTITY_TEXTS }])
      .toArray();
    return new Map(found.map((record) => [record._id.toHexString(), record]));
  }

  private async learnSeen(kind: Kind, lives: Life[], term: TermAtWork): Promise<Rival[]> {
    const rivals = await this.resurrections.learnSeen(kind, lives, term);
    if (rivals.length > 0) await this.ignored.hearRivals(kind, rivals);
    return rivals;
  }
}

/** Groups lives by place, because what is learned of them is stored as of that place. */
function byPlace(lives: Life[]): Life[][] {
  const places = new Map<LogPlace, Life[]>();
  for (const life of lives) {
    const together = places.get(life.at);
    if (together === undefined) places.set(life.at, [life]);
    else together.push(life);
  }
  return [...places.values()];
}

function placeIn({ at, token }: PassRun): LogPlace {
  const reached = placeOf(token() as { _data: string });
  return reached > at ? reached : at;
}

function lifeOf(identity: Identity, owner: mongo.ObjectId, at: LogPlace): Life {
  return { identity, at, alive: true, owner };
}

function isStale(
  kind: Kind,
  { _id, ...known }: IncompleteIdentity,
  record: StoredRecord | undefined,
): boolean {
  if (record === undefined) return true;
  const claimed = identityOf(kind, _id.owner, known);
  return claimed !== undefined && !(record.isNumber && isSame(claimed, identityOf(kind, _id.owner, record)));
}
