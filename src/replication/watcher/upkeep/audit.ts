import { Inject, Injectable, Logger } from '@nestjs/common';
import type { mongo, Model } from 'mongoose';
import { InjectModel } from '@nestjs/mongoose';
import { kindNames, type Kind } from '../../../kinds/index.js';
import { type AuditProgress, LEDGER_AUDIT, AUDIT_MODEL } from '../collections.schema.js';
import { SETTINGS, type Settings } from '../../../platform/config/index.js';
import { Metrics } from '../../../platform/observability/index.js';
import { IncompleteIdentities, Ledger, type TermAtWork, type Job, WorkedThrough } from '../../store/index.js';
import { isIn, type LedgerChange, type LogPlace, placeAfter } from '../../protocol/index.js';
import { KindPasses } from '../pass/kind-passes.js';
import { Resurrections } from '../stamping/resurrections.js';
import { Restamps } from '../stamping/restamps.js';
import {
  LEDGER_FAULTS,
  type LedgerFault,
  type LedgerFaultKind,
  faultKey,
  faultsSentence,
  digestOf,
  isSameDigest,
  type Tenure,
  differing,
  lasting,
  AuditReads,
  type Seen,
  type Slice,
} from './audit-reads.js';

/** The pace of the audit. Times are in milliseconds. */
interface AuditPace {
  /** Maximum number of records, and of ledger entries, in one slice. */
  slice: number;
  /** Share of the database's time that the reads may take. */
  share: number;
  /** Shortest pause between two slices. */
  leastPause: number;
  /** Pause between two rounds. Without it, a small database would be read all the time. */
  roundPause: number;
  /** Longest time from the beginning of one slice to that of the next. */
  longestInterval: number;
}

/** The pause between two rounds, as a multiple of the shortest pause between slices. */
const LEAST_PAUSES = 30;
/** In a shorter interval, the smallest slice might take more than the share. */
const LEAST_INTERVAL_MS = 300_000;

/** The pace that the settings give. */
export function paceOf({
  auditSlice: slice,
  auditShare,
  auditPauseMs: leastPause,
}: Pick<Settings, 'auditSlice' | 'auditShare' | 'auditPauseMs'>): AuditPace {
  const roundPause = LEAST_PAUSES * leastPause;
  const longestInterval = Math.max(LEAST_INTERVAL_MS, roundPause);
  return { slice, share: auditShare / 100, leastPause, roundPause, longestInterval };
}

/** The pause after a slice, from the duration of its read. */
export function pauseAfter(took: number, { share, leastPause, longestInterval }: AuditPace): number {
  const owed = took * (1 / share - 1);
  return Math.max(0, Math.min(Math.max(owed, leastPause), longestInterval - took));
}

/** The size of the next slice: smaller if the share and the longest interval could not both be kept. */
export function sizeAfter(size: number, took: number, { slice, share, longestInterval }: AuditPace): number {
  if (took / share > longestInterval) return Math.max(1, Math.floor(size / 2));
  return Math.min(slice, size * 2);
}

const MS = 1000;

/** The result of a slice. */
interface SliceDone {
  /** Where it ends; undefined if it was the last of its kind. */
  end: mongo.ObjectId | undefined;
  found: number;
  /** Approximate number of slices in a round. */
  expected: number;
  /** Database's clock. */
  clock: Date;
}

/** The progress before the first slice. */
export function firstRound(clock: Date): AuditProgress {
  return {
    ...{ _id: LEDGER_AUDIT, kind: kindNames()[0]!, behind: null, slices: 0, round: 1, started: clock },
    ...{ lastRoundSeconds: null, roundSeconds: null, found: 0 },
  };
}

/** The progress after a slice: in the same kind, the next one, or the next round. */
export function afterSlice(
  progress: AuditProgress,
  { end, found, expected, clock }: SliceDone,
  kinds: readonly Kind[] = kindNames(),
): AuditProgress {
  const seconds = Math.max(0, (clock.getTime() - progress.started.getTime()) / MS);
  const slices = progress.slices + 1;
  const roundSeconds = Math.round((seconds / slices) * Math.max(slices, expected));
  const done = { ...progress, slices, roundSeconds, found: progress.found + found, behind: end ?? null };
  if (end !== undefined) return done;
  const next = kinds[kinds.indexOf(progress.kind) + 1];
  if (next !== undefined) return { ...done, kind: next };
  const lastRoundSeconds = Math.round(seconds);
  return { ...done, kind: kinds[0]!, slices: 0, round: progress.round + 1, started: clock, lastRoundSeconds };
}

const AT_ONCE = 1000;

/** Repairs and reports the faults that the audit found. */
@Injectable()
export class AuditRepair {
  private readonly log = new Logger('Audit');
  /** The faults of a repair that has not ended: it is repeated, and does not report them again. */
  private reported = new Set<string>();

  constructor(
    private readonly ledger: Ledger,
    private readonly resurrections: Resurrections,
    private readonly restamps: Restamps,
    private readonly incomplete: IncompleteIdentities,
    private readonly metrics: Metrics,
  ) {
    for (const what of LEDGER_FAULTS) metrics.auditFound.inc({ what }, 0);
  }

  /** The faults were seen as of `at`. Later knowledge of the ledger is kept. */
  async repair(kind: Kind, faults: LedgerFault[], at: LogPlace, term: TermAtWork): Promise<void> {
    this.report(faults);
    for (let start = 0; start < faults.length; start += AT_ONCE) {
      const some = faults.slice(start, start + AT_ONCE);
      await this.learnLives(kind, some.filter(isOf('unknown record')), at, term);
      const ended = some.filter(isOf('living entry without record'));
      await this.ledger.learn(deathsOf(ended, at, false));
    }
    this.reported.clear();
  }

  /**
   * It is unknown what consumers received of these records, so they receive them again. What the ledger knows is no fault
   * that a repeated repair would find. So the records are stamped before they are learned. Feeds omit a record with a
   * numeric `id` that the ledger does not know, whatever its stamp. It gets a tombstone first, from which rule 4 learns
   * and stamps it at once. Before that, it is stored as a rival: if this repair is interrupted in between, the watcher
   * restores it when it reaches the tombstone, and no later moment shows the tombstone.
   */
  private async learnLives(kind: Kind, faults: LedgerFault[], at: LogPlace, term: TermAtWork): Promise<void> {
    const texts = faults.filter(({ isNumber }) => !isNumber).map(({ owner }) => owner);
    await this.restamps.records(kind, texts, 'audit', term);
    const numbers = faults.filter(({ isNumber }) => isNumber);
    const claiming = numbers.map(({ owner, identity }) => ({ owner: owner.toHexString(), identity }));
    await this.incomplete.keepRivals(kind, claiming, at, term.share);
    await this.ledger.learn(deathsOf(numbers, at, true));
    const lives = faults.map(({ identity, owner, isNumber }) => ({
      ...{ identity, owner, at, alive: true as const, ...(isNumber && { isNumber }) },
    }));
    await this.resurrections.learnSeen(kind, lives, term);
  }

  private report(faults: LedgerFault[]): void {
    const fresh = faults.filter((fault) => !this.reported.has(faultKey(fault)));
    if (fresh.length === 0) return;
    for (const { what } of fresh) this.metrics.auditFound.inc({ what });
    this.reported = new Set([...this.reported, ...fresh.map(faultKey)]);
    this.log.error(faultsSentence(fresh));
  }
}

function deathsOf(faults: LedgerFault[], at: LogPlace, shortLived: boolean): LedgerChange[] {
  return faults.map(({ identity }) => ({ identity, at, alive: false, shortLived }));
}

function isOf(what: LedgerFaultKind): (fault: LedgerFault) => boolean {
  return (fault) => fault.what === what;
}

/**
 * Compares the ledger with the records, slice by slice, in continuous rounds. The rules keep the two in step. The audit
 * finds what no rule foresees: a fault of this program, or a write into the ledger by another one.
 */
@Injectable()
export class Audit implements Job {
  readonly name = 'The audit of the ledger';
  private readonly log = new Logger('Audit');
  private readonly pace: AuditPace;
  private size: number;

  constructor(
    @InjectModel(AUDIT_MODEL) private readonly audits: Model<AuditProgress>,
    private readonly reads: AuditReads,
    private readonly repairs: AuditRepair,
    private readonly workedThrough: WorkedThrough,
    private readonly kindPasses: KindPasses,
    @Inject(SETTINGS) settings: Settings,
  ) {
    this.pace = paceOf(settings);
    this.size = this.pace.slice;
  }

  /** Processes one slice. Faults are repaired before the progress is stored, so a slice may be repeated, never skipped. */
  async step(stop: AbortSignal, term: TermAtWork): Promise<number> {
    const kinds = this.kindPasses.ready();
    const stored = (await this.stored()) ?? firstRound((await this.workedThrough.now()).clock);
    // The kind of the last slice may have been removed.
    const progress = kinds.includes(stored.kind) ? stored : { ...stored, kind: kinds[0]!, behind: null };
    const { kind, behind } = progress;
    const seen = await this.reads.slice(kind, behind, this.size);
    const faults = await this.faultsIn(kind, seen, stop);
    if (faults === undefined) return 0;
    await this.repairs.repair(kind, faults.value, placeAfter(faults.at), term);
    const expected = await this.reads.expected(this.size);
    const done = { end: seen.value.end, found: faults.value.length, expected, clock: faults.clock };
    const next = afterSlice(progress, done, kinds);
    await this.store(next);
    const took = seen.took + faults.took;
    this.size = sizeAfter(this.size, took, this.pace);
    if (next.round === progress.round) return pauseAfter(took, this.pace);
    this.logRound(next);
    return this.pace.roundPause;
  }

  /**
   * The ledger follows the collection with a delay. A difference therefore counts only if two further reads show it
   * identically, each after the watcher has processed the log of the application up to the time of the previous read.
   * An application that is not processed that far is left to the next round; a pass over it finds the same faults.
   * Returns undefined if `stop` is aborted first, or if a pass over everything, or over the kind, has begun or ended meanwhile.
   */
  private async faultsIn(
    kind: Kind,
    seen: Seen<Slice>,
    stop: AbortSignal,
  ): Promise<Seen<LedgerFault[]> | undefined> {
    const { records, entries } = seen.value;
    if (isSameDigest(digestOf(records), digestOf(entries))) return { ...seen, value: [], took: 0 };
    const first = await this.confirmed(kind, differing(records, entries), seen.at, stop);
    if (first === undefined || first.value.length === 0) return first;
    const second = await this.confirmed(kind, first.value, first.at, stop);
    return second && { ...second, value: lasting(first.value, second.value), took: first.took + second.took };
  }

  private async confirmed(
    kind: Kind,
    suspects: Tenure[],
    before: mongo.Timestamp,
    stop: AbortSignal,
  ): Promise<Seen<LedgerFault[]> | undefined> {
    const processed = await this.workedThrough.upTo(before, stop);
    if (processed === undefined || processed.withoutKinds.includes(kind)) return undefined;
    return this.reads.faults(
      kind,
      suspects.filter(({ identity }) => isIn(processed.share, identity)),
    );
  }

  private async stored(): Promise<AuditProgress | null> {
    return this.audits.findById(LEDGER_AUDIT).lean<AuditProgress>();
  }

  private async store(progress: AuditProgress): Promise<void> {
    await this.audits.replaceOne({ _id: LEDGER_AUDIT }, progress, { upsert: true });
  }

  private logRound({ round, lastRoundSeconds, found }: AuditProgress): void {
    this.log.debug(
      `Round ${round - 1} of the audit took ${lastRoundSeconds} s; ${found} faults were found so far`,
    );
  }
}
