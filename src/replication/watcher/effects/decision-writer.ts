import { Injectable } from '@nestjs/common';
import { mongo, type Connection } from 'mongoose';
import { InjectConnection } from '@nestjs/mongoose';
import { isDatabaseAway, isRetryable } from '../../../database/index.js';
import { HistoryLostError } from '../log/change-stream.js';
import { TermOverError, IncompleteIdentities, type TermAtWork, Quarantine } from '../../store/index.js';
import { type Kind, KINDS, COLLECTION_OF } from '../../../record/index.js';
import {
  ALL,
  isIn,
  type AppShare,
  type LogPlace,
  identityOf,
  type PartialIdentity,
  type Rival,
  type KnownFences,
  type Decisions,
  type Partials,
} from '../../protocol/index.js';
import { lacksId, type PresentRecord, PRESENT, type RecordLook } from '../repair/present-record.js';
import { EmailReview } from '../repair/reviews.js';
import { RecordCare } from '../repair/record-repair.js';
import { IgnoredRecords } from '../repair/ignored-records.js';
import { Claimants } from '../stamping/claimants.js';
import { Restamps } from '../stamping/restamps.js';
import { Resurrections } from '../stamping/resurrections.js';

/** Whether a failure is not one of what was worked on alone: the database is away, the term is over, or history is lost. */
export function mayPass(error: unknown): boolean {
  return (
    isDatabaseAway(error) ||
    isRetryable(error) ||
    error instanceof TermOverError ||
    error instanceof HistoryLostError
  );
}

/** How many records get an `id` in one go. */
const AT_ONCE = 100;
/** How many incomplete identities are looked through for them in one go: there may be many that can get none. */
const LOOKED_AT = 1000;

/** A walk along the incomplete identities; `again`: what it has left behind has grown meanwhile. */
interface Walk {
  behind?: mongo.ObjectId;
  again?: boolean;
}

/**
 * The records without an `id` that wait for theirs. A bulk of them would hold up everybody else's changes, and nobody is
 * shown them before, so of a batch that has many none gets its `id` at once. They are remembered among the incomplete
 * identities, and found there again.
 */
@Injectable()
export class MissingIds {
  private readonly walks = new Map<Kind, Walk>();

  constructor(private readonly incomplete: IncompleteIdentities) {}

  /** It is unknown what has been waiting since the previous term, or in an application that comes to the share once more. */
  beginTerm(): void {
    for (const kind of KINDS) this.walks.set(kind, {});
  }

  /** The records of a batch that can be looked after at once; the others wait. */
  notWaiting(kind: Kind, records: PresentRecord[]): PresentRecord[] {
    const others = records.filter((record) => !lacksId(record));
    if (records.length - others.length <= AT_ONCE) return records;
    const walk = this.walks.get(kind);
    if (walk === undefined) this.walks.set(kind, {});
    else walk.again = true;
    return others;
  }

  /**
   * Some of a share that may be waiting, as many as can be looked after between two batches. The walk may be another one by the time
   * of the answer, since a term that was given up may ask, too: it ends its own alone.
   */
  async next(kind: Kind, share: AppShare = ALL): Promise<mongo.ObjectId[]> {
    const walk = this.walks.get(kind);
    if (walk === undefined) return [];
    const stretch = await this.incomplete.nextStretch(kind, walk.behind, LOOKED_AT);
    if (stretch === undefined) {
      if (this.walks.get(kind) === walk) this.end(kind, walk);
      return [];
    }
    const waiting: mongo.ObjectId[] = [];
    for await (const some of this.incomplete.inStretch(kind, stretch))
      waiting.push(
        ...some.filter(({ _id, isNumber }) => !isNumber && isIn(share, _id)).map(({ _id }) => _id.owner),
      );
    const next = waiting.slice(0, AT_ONCE);
    walk.behind = next.length < waiting.length ? next.at(-1)! : stretch.end;
    return next;
  }

  private end(kind: Kind, { again }: Walk): void {
    if (again) this.walks.set(kind, {});
    else this.walks.delete(kind);
  }
}

/** Records by their `_id`, and the place in the log behind which they are looked at. */
interface Written {
  written: mongo.ObjectId[];
  /** All of the batch, since an e-mail is free where its member went. */
  concerned: mongo.ObjectId[];
  at: LogPlace;
}

/** Looks after the records of a batch as they stand behind it. */
@Injectable()
export class CareForWritten {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly care: RecordCare,
    private readonly emailReview: EmailReview,
    private readonly missingIds: MissingIds,
    private readonly quarantine: Quarantine,
  ) {}

  /**
   * The written ones that still are in the share of the term are looked at; where too many of them lack an `id`, these wait. One that
   * has left the share is looked after where it came to.
   */
  async lookAfter(kind: Kind, { written, concerned, at }: Written, term: TermAtWork): Promise<void> {
    const records = this.missingIds.notWaiting(kind, await this.present(kind, written, term.share));
    await this.repair(kind, { records, at, term }, concerned);
  }

  /** Looks after some of those that wait. One that cannot be looked after is set aside. */
  async lookAfterWaiting(at: LogPlace, term: TermAtWork): Promise<void> {
    for (const kind of KINDS)
      await this.lookAfterEach(kind, await this.missingIds.next(kind, term.share), { at, term });
  }

  private async lookAfterEach(
    kind: Kind,
    ids: mongo.ObjectId[],
    look: Omit<RecordLook, 'records'>,
  ): Promise<void> {
    if (ids.length === 0) return;
    look.term.showLife();
    try {
      await this.repair(kind, { records: await this.present(kind, ids, look.term.share), ...look }, ids);
    } catch (error) {
      if (mayPass(error)) throw error;
      if (ids.length === 1)
        await this.quarantine.setAside({ what: 'record', kind, owner: ids[0]! }, 'giving it an id', error);
      const half = Math.ceil(ids.length / 2);
      if (ids.length > 1)
        for (const some of [ids.slice(0, half), ids.slice(half)]) await this.lookAfterEach(kind, some, look);
    }
  }

  private async repair(kind: Kind, look: RecordLook, concerned: mongo.ObjectId[]): Promise<void> {
    const noted = await this.care.lookAfter(kind, look);
    if (kind === 'member') await this.emailReview.review(concerned, noted);
  }

  private async present(kind: Kind, ids: mongo.ObjectId[], share: AppShare): Promise<PresentRecord[]> {
    if (ids.length === 0) return [];
    const found = await this.connection
      .collection(COLLECTION_OF[kind])
      .aggregate<PresentRecord>([{ $match: { _id: { $in: ids } } }, { $project: PRESENT }])
      .toArray();
    return found.filter((record) => isIn(share, record));
  }
}

/** What was decided of a batch, behind which place of the log, and all fences as they are behind it. */
interface DecidedBatch {
  decisions: Decisions;
  partials: Partials;
  at: LogPlace;
  fences: KnownFences;
  /** What was known before of records of the batch that waited with a number, by the hex of their `_id`. */
  waited: ReadonlyMap<string, PartialIdentity>;
}

/** Writes down what was decided. All of it may be repeated. */
@Injectable()
export class DecisionWriter {
  constructor(
    private readonly incomplete: IncompleteIdentities,
    private readonly restamps: Restamps,
    private readonly resurrections: Resurrections,
    private readonly ignored: IgnoredRecords,
    private readonly claimants: Claimants,
  ) {}

  /**
   * What is incomplete is remembered first and forgotten last: between them it may be cut off. A record with a number that
   * feeds have left out so far is stamped anew once the ledger knows it, so that it comes in the next window.
   */
  async write(
    kind: Kind,
    { decisions, partials, at, fences, waited }: DecidedBatch,
    term: TermAtWork,
  ): Promise<void> {
    await this.incomplete.keep(kind, asIncomplete(partials), term.share);
    const waiting = await this.resurrections.learn(kind, decisions.ledger, fences, term);
    if (decisions.revealed.length > 0) await this.restamps.records(kind, decisions.revealed, 'number', term);
    await this.restamps.late(kind, decisions.late, term);
    await this.restamps.lateTombstones(decisions.lateTombstones, term);
    await this.resurrections.look(kind, decisions.seenTombstones, { at, fences }, term);
    const complete = await this.withoutWaiting(kind, completeBy(partials, waiting), waited);
    await this.incomplete.forget(kind, complete, at, term.share);
    const rivals = [...decisions.rivals, ...waiting];
    await this.resurrections.endVacant(kind, rivals, at);
    const mayHaveGone = decisions.seenTombstones.length > 0 && this.ignored.hasRivals(kind);
    if (rivals.length > 0 || waited.size > 0 || mayHaveGone) await this.ignored.hearRivals(kind, rivals);
  }

  /**
   * Leaves out numbers that still wait: a term that has read a part of what is known before the death of a text, and a part after
   * it, takes them for learned.
   */
  private async withoutWaiting(
    kind: Kind,
    complete: mongo.ObjectId[],
    waited: DecidedBatch['waited'],
  ): Promise<mongo.ObjectId[]> {
    const rivals = complete.flatMap((owner): Rival[] => {
      const identity = identityOf(kind, owner, waited.get(owner.toHexString()) ?? {});
      return identity === undefined ? [] : [{ owner: owner.toHexString(), identity }];
    });
    if (rivals.length === 0) return complete;
    const still = new Set((await this.claimants.unlearned(kind, rivals)).map(({ owner }) => owner));
    return complete.filter((owner) => !still.has(owner.toHexString()));
  }
}

function asIncomplete(partials: Partials): { owner: mongo.ObjectId; partial: PartialIdentity }[] {
  return [...partials].flatMap(([key, partial]) =>
    partial === null ? [] : [{ owner: new mongo.ObjectId(key), partial }],
  );
}

function completeBy(partials: Partials, waiting: Rival[]): mongo.ObjectId[] {
  const owners = new Set(waiting.map(({ owner }) => owner));
  return [...partials].flatMap(([key, partial]) =>
    partial === null && !owners.has(key) ? [new mongo.ObjectId(key)] : [],
  );
}
