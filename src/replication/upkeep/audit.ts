import { Injectable, Logger } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import type { Model, mongo } from 'mongoose';
import type { Kind } from '../../record/index.js';
import { type Job, placeBehind, type TermAtWork, WorkedThrough } from '../progress/index.js';
import { digestOf, isSameDigest, type Tenure } from './audit-digest.js';
import { differing, type LedgerFault, lasting } from './audit-faults.js';
import { AuditLooks, type Seen, type Slice } from './audit-looks.js';
import { AuditPace, pauseAfter, sizeAfter } from './audit-pace.js';
import { afterSlice, firstRound } from './audit-progress.js';
import { AUDIT_MODEL, type AuditProgress, LEDGER_AUDIT } from './audit-progress.schema.js';
import { AuditRepair } from './audit-repair.js';

/**
 * Compares the ledger with the records, slice by slice, round and round. The rules keep the two in step; this finds what
 * no rule foresees: a fault of this program, or somebody who wrote into the ledger.
 */
@Injectable()
export class Audit implements Job {
  readonly name = 'The audit of the ledger';
  private readonly log = new Logger('Audit');
  private size: number;

  constructor(
    @InjectModel(AUDIT_MODEL) private readonly audits: Model<AuditProgress>,
    private readonly looks: AuditLooks,
    private readonly repairs: AuditRepair,
    private readonly workedThrough: WorkedThrough,
    private readonly pace: AuditPace,
  ) {
    this.size = pace.slice;
  }

  /** One slice. What is found is put right before the progress is stored, so a slice may be repeated, never skipped. */
  async step(stop: AbortSignal, term: TermAtWork): Promise<number> {
    const progress = (await this.stored()) ?? firstRound((await this.workedThrough.now()).clock);
    const { kind, behind } = progress;
    const seen = await this.looks.slice(kind, behind, this.size);
    const faults = await this.faultsIn(kind, seen, stop);
    if (faults === undefined) return 0;
    await this.repairs.repair(kind, faults.value, placeBehind(faults.at), term);
    const expected = await this.looks.expected(this.size);
    const done = { end: seen.value.end, found: faults.value.length, expected, clock: faults.clock };
    const next = afterSlice(progress, done);
    await this.store(next);
    const took = seen.took + faults.took;
    this.size = sizeAfter(this.size, took, this.pace);
    if (next.round === progress.round) return pauseAfter(took, this.pace);
    this.tell(next);
    return this.pace.betweenRounds;
  }

  /**
   * The ledger follows the collection, so what differs counts only where two more looks show it just the same, each after
   * the watcher has worked through everything up to the look before. Nothing where `stop` came first.
   */
  private async faultsIn(
    kind: Kind,
    seen: Seen<Slice>,
    stop: AbortSignal,
  ): Promise<Seen<LedgerFault[]> | undefined> {
    const { records, entries } = seen.value;
    if (isSameDigest(digestOf(records), digestOf(entries))) return { ...seen, value: [], took: 0 };
    const first = await this.lookAgain(kind, differing(records, entries), seen.at, stop);
    if (first === undefined || first.value.length === 0) return first;
    const second = await this.lookAgain(kind, first.value, first.at, stop);
    return second && { ...second, value: lasting(first.value, second.value), took: first.took + second.took };
  }

  private async lookAgain(
    kind: Kind,
    suspects: Tenure[],
    before: mongo.Timestamp,
    stop: AbortSignal,
  ): Promise<Seen<LedgerFault[]> | undefined> {
    if (!(await this.workedThrough.upTo(before, stop))) return undefined;
    return this.looks.faults(kind, suspects);
  }

  private async stored(): Promise<AuditProgress | null> {
    return this.audits.findById(LEDGER_AUDIT).lean<AuditProgress>();
  }

  private async store(progress: AuditProgress): Promise<void> {
    await this.audits.replaceOne({ _id: LEDGER_AUDIT }, progress, { upsert: true });
  }

  private tell({ round, lastRoundSeconds, found }: AuditProgress): void {
    this.log.debug(
      `Round ${round - 1} of the audit took ${lastRoundSeconds} s; ${found} faults were found so far`,
    );
  }
}
