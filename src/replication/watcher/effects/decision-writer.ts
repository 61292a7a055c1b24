import { Injectable } from '@nestjs/common';
import { mongo } from 'mongoose';
import type { Kind } from '../../../record/index.js';
import { IncompleteIdentities, Ledger, type PartialIdentity } from '../../ledger/index.js';
import type { KnownFences } from '../../mark/index.js';
import type { LogPlace, TermAtWork } from '../../progress/index.js';
import { IgnoredRecords, NumericIds } from '../../repair/index.js';
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
    private readonly ledger: Ledger,
    private readonly incomplete: IncompleteIdentities,
    private readonly restamps: Restamps,
    private readonly resurrections: Resurrections,
    private readonly numbers: NumericIds,
    private readonly ignored: IgnoredRecords,
  ) {}

  /** What is incomplete is remembered first and forgotten last: between them it may be cut off. */
  async write(
    kind: Kind,
    { decisions, partials, at, fences, hadRivals }: DecidedBatch,
    term: TermAtWork,
  ): Promise<void> {
    await this.incomplete.keep(kind, asIncomplete(partials));
    const reborn = await this.ledger.learn(decisions.ledger);
    await this.resurrections.bring(kind, reborn, fences, term);
    await this.numbers.reveal(kind, decisions.revealed, term);
    await this.restamps.late(kind, decisions.late, term);
    await this.restamps.lateTombstones(decisions.lateTombstones, term);
    await this.resurrections.look(kind, decisions.seenTombstones, { at, fences }, term);
    await this.incomplete.forget(kind, completeBy(partials));
    await this.tellRivals(kind, decisions, hadRivals);
  }

  private async tellRivals(kind: Kind, decided: Decisions, haveChanged: boolean): Promise<void> {
    const { rivals, seenTombstones } = decided;
    if (rivals.length > 0 || haveChanged || (seenTombstones.length > 0 && this.ignored.hasRivals(kind)))
      await this.ignored.hearRivals(kind, rivals);
  }
}

function asIncomplete(partials: Partials): { owner: mongo.ObjectId; partial: PartialIdentity }[] {
  return [...partials].flatMap(([key, partial]) =>
    partial === null ? [] : [{ owner: new mongo.ObjectId(key), partial }],
  );
}

function completeBy(partials: Partials): mongo.ObjectId[] {
  return [...partials].flatMap(([key, partial]) => (partial === null ? [new mongo.ObjectId(key)] : []));
}
