import { Injectable } from '@nestjs/common';
import { mongo } from 'mongoose';
import type { Kind } from '../../../record/index.js';
import { identityOf, IncompleteIdentities, type PartialIdentity, type Rival } from '../../ledger/index.js';
import type { KnownFences } from '../../mark/index.js';
import type { LogPlace, TermAtWork } from '../../progress/index.js';
import { IgnoredRecords } from '../../repair/index.js';
import { Claimants, Restamps, Resurrections } from '../../stamping/index.js';
import type { Decisions } from '../rules/decide.js';
import type { Partials } from '../rules/knowledge.js';

/** What was decided of a batch, behind which place of the log, and all fences as they are behind it. */
export interface DecidedBatch {
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
