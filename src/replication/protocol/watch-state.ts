import type { mongo } from 'mongoose';
import type { Tenant } from '../../record/pure.js';
import type { Pace, Work } from './estimates.js';
import type { Kind } from '../../kinds/index.js';
import type { AsideProgress, KindProgress, WatchProgress } from './progress.js';

/**
 * A restore of the database from a backup. Times between the backup and the restore were announced by the database that
 * the restore replaced: a consumer that continues from such a time may have changes that no longer exist.
 */
export interface Restore {
  /** The latest time that had been announced when the backup was made, or an earlier one. */
  after: Date;
  /** The time of the restore, by the database's clock. */
  until: Date;
}

/**
 * The first time, from `time` on, from which a consumer may continue: `time` itself, unless it lies between a backup and its
 * restore.
 */
export function afterRestores(time: Date, restores: unknown): Date {
  let after = time;
  while (wasAnnouncedByReplaced(after, restores))
    after = (restores as (Partial<Restore> | null)[]).reduce(
      (latest, one) => (wasAnnouncedByReplaced(after, [one]) && one!.until! > latest ? one!.until! : latest),
      after,
    );
  return after;
}

/** Whether a time was announced by a database that a restore has replaced. Malformed entries are ignored. */
export function wasAnnouncedByReplaced(time: Date, restores: unknown): boolean {
  if (!Array.isArray(restores)) return false;
  return (restores as (Partial<Restore> | null)[]).some(
    (one) => one?.after instanceof Date && one.until instanceof Date && time > one.after && time < one.until,
  );
}

/** The one document of `tidemark.leases`: the leader, and how far the log has been processed (design §3, Lease). */
export interface WatchState extends WatchProgress {
  _id: typeof WATCHER;
  /** The instance that leads, or that led last; empty if none has led yet. */
  holder: string;
  /** Grows with each new leader. Every write of progress is conditional on the term in which its work began. */
  term: number;
  /** By the database's clock. */
  expires: Date;
  /** The storage format of the database; absent if an earlier version created the document. */
  format?: number;
  /** The resume token of the stream. */
  token?: unknown;
  pass?: PassProgress;
  restores?: Restore[];
  /** The pace of the main loop, in seconds of the log. */
  pace?: Pace;
  /**
   * The applications that are aside. Always write the whole field, by `$set` or `$unset`: the control stream reports whole
   * fields, not parts of them.
   */
  aside?: AsideApplication[];
  /** The kinds that operators have created, as far as the leader knows them. Always write the whole field, as `aside`. */
  kinds?: PassedKind[];
}

/** A kind that an operator has created. While the pass over its records is running, `pass` contains its progress. */
export interface PassedKind extends KindProgress {
  kind: Kind;
  pass?: PassProgress;
}

/**
 * An application that is aside, with the resume token of its own stream. While its own pass is running or due, it has
 * neither a token nor `watched`.
 */
export interface AsideApplication extends AsideProgress {
  token?: unknown;
  pass?: PassProgress;
  /** Absent if an earlier version put the application aside. */
  counts?: LaneCounts;
}

/**
 * Events of the log since the application was put aside: those that the main loop has read, and those that the lane has
 * processed.
 */
export interface LaneCounts {
  read: EventCounts;
  done: EventCounts;
}

interface EventCounts {
  changes: number;
  /** Events caused by the watcher's own writes: tombstones, stamps, `emailkey`s. */
  echoes: number;
}

/**
 * A running pass, over everything or over one application. It counts the records and ledger entries done so far, and their
 * approximate total.
 */
export interface PassProgress extends Work {
  /** The reason, as logged. */
  reason: string;
  /** Whether everything must be re-stamped, because the changes that happened are unknown. */
  isRepair: boolean;
  /** By the database's clock. */
  started: Date;
  /** Whether the ledger was empty when the pass began. */
  isBare?: boolean;
  /** For a pass over one application: present if no pass over it has ended yet. */
  isFirst?: boolean;
  /** For a pass over everything, except the first: the applications over which no pass has ended yet. */
  first?: Tenant[];
  /** Applications that a pass over everything leaves out. Each gets its own pass afterwards, the smallest first. */
  later?: Tenant[];
  /** The progress of the pass; absent at its start. */
  reached?: PassPlace;
}

/** Where an interrupted pass resumes, after a restart or a fail-over. */
export interface PassPlace {
  /** The place in the log at which the pass opened its stream. What the pass learns counts as knowledge of that place. */
  at: string;
  /** The pass's stream has been processed up to this token. */
  token: unknown;
  /**
   * The current step of the pass; empty before the first one. `behind` is the `_id` up to which the step is done; absent at
   * its start.
   */
  step: string;
  behind?: mongo.ObjectId;
}

export const WATCHER = 'watcher';
