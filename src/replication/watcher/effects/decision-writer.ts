import { recordsIn, RecordsHeldError } from '../../../record/index.js';
import { Injectable } from '@nestjs/common';
import { mongo, type Connection } from 'mongoose';
import { InjectConnection } from '@nestjs/mongoose';
import { isDatabaseAway, isRetryable } from '../../../platform/database/index.js';
import { HistoryLostError } from '../log/change-stream.js';
import { TermOverError, IncompleteIdentities, type TermAtWork, Quarantine } from '../../store/index.js';
import { type Kind, kindNames, PERSON_KIND } from '../../../kinds/index.js';
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
import { lacksId, type PresentRecord, PRESENT, type ReadRecords } from '../repair/present-record.js';
import { EmailReview } from '../repair/reviews.js';
import { RecordMaintenance } from '../repair/record-repair.js';
import { IgnoredRecords } from '../repair/ignored-records.js';
import { Claimants } from '../stamping/claimants.js';
import { Restamps } from '../stamping/restamps.js';
import { Resurrections } from '../stamping/resurrections.js';

/**
 * Whether a failure is not specific to the events in progress: the database is unavailable, the term is over, or history is
 * lost.
 */
export function isUnspecific(error: unknown): boolean {
  return (
    isDatabaseAway(error) ||
    isRetryable(error) ||
    error instanceof TermOverError ||
    error instanceof HistoryLostError
  );
}

/** Maximum number of records that get an `id` at once. */
const AT_ONCE = 100;
/** Number of incomplete identities that are searched at once for such records. Many may be unable to get an `id`. */
const LOOKED_AT = 1000;

/** A walk over the incomplete identities. `again` is set if records were added meanwhile, so that it has to be repeated. */
interface Walk {
  behind?: mongo.ObjectId;
  again?: boolean;
}

/**
 * Records that wait for an `id`. A large bulk of them would delay the changes of all others, and consumers do not see a
 * record without an `id`. So if a batch contains many, none of them gets an `id` at once. They are stored as incomplete
 * identities, and a walk over these finds them.
 */
@Injectable()
export class MissingIds {
  private readonly walks = new Map<Kind, Walk>();

  constructor(private readonly incomplete: IncompleteIdentities) {}

  /** Restarts the walks: records may be waiting since an earlier term, or in an application that has rejoined the share. */
  beginTerm(): void {
    for (const kind of kindNames()) this.walks.set(kind, {});
  }

  /** Returns the records of a batch that can be repaired at once. The others wait. */
  notWaiting(kind: Kind, records: PresentRecord[]): PresentRecord[] {
    const others = records.filter((record) => !lacksId(record));
    if (records.length - others.length <= AT_ONCE) return records;
    const walk = this.walks.get(kind);
    if (walk === undefined) this.walks.set(kind, {});
    else walk.again = true;
    return others;
  }

  /**
   * Returns some waiting records of a share, as many as can be repaired between two batches. An abandoned term may also call
   * this, so the walk may have been replaced when the query returns. Only the walk that was read is ended.
   */
  async next(kind: Kind, share: AppShare = ALL): Promise<mongo.ObjectId[]> {
    const walk = this.walks.get(kind);
    if (walk === undefined) return [];
    const range = await this.incomplete.nextRange(kind, walk.behind, LOOKED_AT);
    if (range === undefined) {
      if (this.walks.get(kind) === walk) this.end(kind, walk);
      return [];
    }
    const waiting: mongo.ObjectId[] = [];
    for await (const some of this.incomplete.inRange(kind, range))
      waiting.push(
        ...some.filter(({ _id, isNumber }) => !isNumber && isIn(share, _id)).map(({ _id }) => _id.owner),
      );
    const next = waiting.slice(0, AT_ONCE);
    walk.behind = next.length < waiting.length ? next.at(-1)! : range.end;
    return next;
  }

  private end(kind: Kind, { again }: Walk): void {
    if (again) this.walks.set(kind, {});
    else this.walks.delete(kind);
  }
}

/** Records by `_id`, and a place in the log. The records are read after that place. */
interface Written {
  written: mongo.ObjectId[];
  /** All records of the batch, including deleted members: other members may be waiting for their e-mail. */
  concerned: mongo.ObjectId[];
  at: LogPlace;
}

/** Repairs the records of a batch in their current state. */
@Injectable()
export class WrittenMaintenance {
  constructor(
    @InjectConnection() private readonly connection: Connection,
    private readonly maintenance: RecordMaintenance,
    private readonly emailReview: EmailReview,
    private readonly missingIds: MissingIds,
    private readonly quarantine: Quarantine,
  ) {}

  /**
   * Repairs the written records that are still in the share of the term. If too many of them lack an `id`, those wait. A
   * record that has left the share is repaired by the loop it moved to.
   */
  async maintain(kind: Kind, { written, concerned, at }: Written, term: TermAtWork): Promise<void> {
    const records = this.missingIds.notWaiting(kind, await this.present(kind, written, term.share));
    await this.repair(kind, { records, at, term }, concerned);
  }

  /**
   * Repairs some of the waiting records. A record that cannot be repaired is set aside. Those that another program's
   * transaction holds are set aside without a search: for dozens of them, the stream would wait until that transaction
   * ends.
   */
  async maintainWaiting(at: LogPlace, term: TermAtWork): Promise<void> {
    for (const kind of kindNames())
      await this.maintainEach(kind, await this.missingIds.next(kind, term.share), { at, term });
  }

  private async maintainEach(
    kind: Kind,
    ids: mongo.ObjectId[],
    read: Omit<ReadRecords, 'records'>,
  ): Promise<void> {
    if (ids.length === 0) return;
    read.term.showLife();
    try {
      await this.repair(kind, { records: await this.present(kind, ids, read.term.share), ...read }, ids);
    } catch (error) {
      if (isUnspecific(error)) throw error;
      if (error instanceof RecordsHeldError) {
        const others = await this.besideHeld(kind, ids, error);
        if (others.length < ids.length) return this.maintainEach(kind, others, read);
      }
      if (ids.length === 1)
        await this.quarantine.setAside({ what: 'record', kind, owner: ids[0]! }, 'giving it an id', error);
      const half = Math.ceil(ids.length / 2);
      if (ids.length > 1)
        for (const some of [ids.slice(0, half), ids.slice(half)]) await this.maintainEach(kind, some, read);
    }
  }

  /** Sets aside those of the records that a transaction holds, and returns the others. */
  private async besideHeld(
    kind: Kind,
    ids: mongo.ObjectId[],
    { ids: all, message: reason }: RecordsHeldError,
  ): Promise<mongo.ObjectId[]> {
    const names = new Set(all.map((id) => id.toHexString()));
    const held = ids.filter((id) => names.has(id.toHexString()));
    await this.quarantine.setAsideRefused(
      held.map((owner) => ({ concern: { what: 'record', kind, owner }, what: 'id', reason })),
    );
    return ids.filter((id) => !held.includes(id));
  }

  private async repair(kind: Kind, read: ReadRecords, concerned: mongo.ObjectId[]): Promise<void> {
    const noted = await this.maintenance.maintain(kind, read);
    if (kind === PERSON_KIND) await this.emailReview.review(concerned, noted);
  }

  private async present(kind: Kind, ids: mongo.ObjectId[], share: AppShare): Promise<PresentRecord[]> {
    if (ids.length === 0) return [];
    const found = await recordsIn(this.connection, kind)
      .aggregate<PresentRecord>([{ $match: { _id: { $in: ids } } }, { $project: PRESENT }], {
        batchSize: ids.length + 1,
      })
      .toArray();
    return found.filter((record) => isIn(share, record));
  }
}

/** The decisions for a batch, its place in the log, and all fences after it. */
interface DecidedBatch {
  decisions: Decisions;
  partials: Partials;
  at: LogPlace;
  fences: KnownFences;
  /** Earlier knowledge of those records of the batch that waited with a numeric `id`, by the hex of their `_id`. */
  waited: ReadonlyMap<string, PartialIdentity>;
}

/** Writes the decisions for a batch. Every write may be repeated. */
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
   * Incomplete identities are stored first and removed last, because the work may be interrupted in between. A record with a
   * numeric `id` that feeds have omitted so far is re-stamped once the ledger knows it, so that the next window contains it.
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
    await this.resurrections.review(kind, decisions.seenTombstones, { at, fences }, term);
    const complete = await this.withoutWaiting(kind, completeBy(partials, waiting), waited);
    await this.incomplete.forget(kind, complete, at, term.share);
    const rivals = [...decisions.rivals, ...waiting];
    await this.resurrections.endVacant(kind, rivals, at);
    const mayHaveGone = decisions.seenTombstones.length > 0 && this.ignored.hasRivals(kind);
    if (rivals.length > 0 || waited.size > 0 || mayHaveGone) await this.ignored.hearRivals(kind, rivals);
  }

  /**
   * Leaves out records with a numeric `id` that still wait. A term may read one part of its knowledge before the death
   * of a text `id`, and the other part after it. It would then count these records as learned, although the ledger does
   * not have them.
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
