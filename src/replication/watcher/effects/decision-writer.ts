import { Injectable } from '@nestjs/common';
import { mongo } from 'mongoose';
import type { Kind } from '../../../record/index.js';
import { IncompleteIdentities, type PartialIdentity, type Rival } from '../../ledger/index.js';
import type { KnownFences } from '../../mark/index.js';
import type { LogPlace, TermAtWork } from '../../progress/index.js';
import { IgnoredRecords } from '../../repair/index.js';
import { Restamps, Resurrections } from '../../stamping/index.js';
import type { Decisions } from '../rules/decide.js';
import type { Partials } from '../rules/knowledge.js';

/** What was decided of a batch, behind which place of the log, and all fences as they are behind it. */
export interface DecidedBatch {
  decisions: Decisions;
  partials: Partials;
  at: LogPlace;
  fences: KnownFences;
  /** Whether a record of the batch was ignored for its number before. */
  hadRivals: boolean;
}

/** Writes down what was decided. All of it may be repeated. */
@Injectable()
export class DecisionWriter {
  constructor(
    private readonly incomplete: IncompleteIdentities,
    private readonly restamps: Restamps,
    private readonly resurrections: Resurrections,
    private readonly ignored: IgnoredRecords,
  ) {}

  /**
   * What is incomplete is remembered first and forgotten last: between them it may be cut off. A record with a number that
   * feeds have left out so far is stamped anew once the ledger knows it, so that it comes in the next window.
   */
  async write(
    kind: Kind,
    { decisions, partials, at, fences, hadRivals }: DecidedBatch,
    term: TermAtWork,
  ): Promise<void> {
    await this.incomplete.keep(kind, asIncomplete(partials), term.share);
    const waiting = await this.resurrections.learn(kind, decisions.ledger, fences, term);
    if (decisions.revealed.length > 0) await this.restamps.records(kind, decisions.revealed, 'number', term);
    await this.restamps.late(kind, decisions.late, term);
    await this.restamps.lateTombstones(decisions.lateTombstones, term);
    await this.resurrections.look(kind, decisions.seenTombstones, { at, fences }, term);
    await this.incomplete.forget(kind, completeBy(partials, waiting), at, term.share);
    const rivals = [...decisions.rivals, ...waiting];
    await this.resurrections.endVacant(kind, rivals, at);
    const mayHaveGone = decisions.seenTombstones.length > 0 && this.ignored.hasRivals(kind);
    if (rivals.length > 0 || hadRivals || mayHaveGone) await this.ignored.hearRivals(kind, rivals);
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
