import { Injectable } from '@nestjs/common';
import type { mongo } from 'mongoose';
import { pause } from '../../../platform/common/index.js';
import {
  isDatabaseAway,
  isIndexMissing,
  isMomentGone,
  isRetryable,
} from '../../../platform/database/index.js';
import { RecordsHeldError } from '../../../record/index.js';
import {
  type Job,
  type Processed,
  Quarantine,
  type SetAside,
  type TermAtWork,
  TermOverError,
  WorkedThrough,
} from '../../store/index.js';
import { CollectionOptions } from './expiry.js';
import { QuarantineRetry } from './quarantine-retry.js';

const BETWEEN_LOOKS_MS = 1000;
/** Pause after a query that found no entries, unless the leader itself sets something aside (milliseconds). */
const LONGEST_REST_MS = 10_000;
/** Pause before the retry of an entry whose application or kind is not processed up to the present (milliseconds). */
const LEFT_OUT_MS = 5000;
/** Pause after a step that has left out all its entries, if there are more (milliseconds). */
const ALL_LEFT_OUT_MS = 100;
/** How many entries one step handles. */
const AT_ONCE = 500;
/** After this many failures, a step leaves the rest to the next one. */
const MOST_FAILURES = 100;

/** The time of a read of records, and what was processed up to that time. */
interface Look {
  at: mongo.Timestamp;
  processed: Processed;
}

/**
 * Retries entries that were set aside, as a pass would: learns the record's identity, or that it is gone, repairs it and
 * re-stamps it, so that consumers receive what the event or the refused write may have hidden.
 */
@Injectable()
export class QuarantineRetries implements Job {
  readonly name = 'The retry of quarantined changes';

  constructor(
    private readonly quarantine: Quarantine,
    private readonly workedThrough: WorkedThrough,
    private readonly retry: QuarantineRetry,
    private readonly options: CollectionOptions,
  ) {}

  async step(stop: AbortSignal, term: TermAtWork): Promise<number> {
    if (!this.quarantine.mayHaveEntries) return this.untilSomething(stop);
    for (const kind of await this.options.changed()) await this.quarantine.hastenRecords(kind);
    const { clock } = await this.workedThrough.now();
    const entries = await this.quarantine.due(clock, AT_ONCE);
    if (entries.length === 0) return BETWEEN_LOOKS_MS;
    // Taken after the entries are read: as of an earlier time, the records might not show the event of an entry.
    const { at } = await this.workedThrough.now();
    const processed = await this.workedThrough.upTo(at, stop);
    if (processed === undefined) return BETWEEN_LOOKS_MS;
    const ready = await this.retry.within(processed, entries, at);
    const leftOut = entries.filter((entry) => !ready.includes(entry));
    if (leftOut.length > 0) await this.quarantine.putBack(leftOut, LEFT_OUT_MS);
    const areAllTried = await this.maintain(ready, { at, processed }, term);
    if (entries.length < AT_ONCE || !areAllTried) return BETWEEN_LOOKS_MS;
    return ready.length > 0 ? 0 : ALL_LEFT_OUT_MS;
  }

  /**
   * Waits without a query until this leader sets something aside, at most ten seconds: a command or an abandoned term
   * may have set something aside too. The next step then follows at once, unless a pass is under way.
   */
  private async untilSomething(stop: AbortSignal): Promise<number> {
    const ends = performance.now() + LONGEST_REST_MS;
    while (!this.quarantine.mayHaveEntries && !stop.aborted && performance.now() < ends)
      await pause(BETWEEN_LOOKS_MS, stop);
    this.quarantine.expectEntries();
    return 0;
  }

  /**
   * Halves the batch after a failure, down to a single entry, which is postponed, and doubles it after a success. Returns
   * false after too many failures; the remaining entries are left to the next step.
   */
  private async maintain(all: SetAside[], look: Look, term: TermAtWork): Promise<boolean> {
    let entries = all;
    let most = entries.length;
    let failures = 0;
    for (let start = 0; start < entries.length;) {
      const some = entries.slice(start, start + most);
      const failure = await this.attempt(some, look, term);
      const held = failure instanceof RecordsHeldError ? heldAmong(some, failure) : [];
      if (failure !== undefined && held.length > 0) {
        await this.quarantine.postpone(held, failure);
        entries = entries.filter((entry) => !held.includes(entry));
        continue;
      }
      if (failure !== undefined) failures += 1;
      if (failure !== undefined && some.length > 1) {
        most = Math.ceil(some.length / 2);
        continue;
      }
      if (failure === undefined) most *= 2;
      else await this.quarantine.postpone(some, failure);
      start += some.length;
      if (failures < MOST_FAILURES || start === entries.length) continue;
      await this.quarantine.putBack(entries.slice(start));
      return false;
    }
    return true;
  }

  /**
   * Returns the error, or undefined on success. Throws if the database is unavailable, if the term is over, or if the
   * server no longer holds `at`: the entries have not failed, and the next step reads as of a later time. If a pass has
   * begun since `at`, the entries stay: the records as of `at` do not show what the pass finds, and the pass may end
   * before this retry has taken effect.
   */
  private async attempt(
    entries: SetAside[],
    { at, processed }: Look,
    term: TermAtWork,
  ): Promise<Error | undefined> {
    try {
      await this.retry.maintain(entries, at, term);
      if (await this.workedThrough.isStill(processed, at)) await this.quarantine.settle(entries);
      return undefined;
    } catch (error) {
      if (isDatabaseAway(error) || isRetryable(error) || error instanceof TermOverError) throw error;
      if (isMomentGone(error) && !isIndexMissing(error)) throw error;
      return error as Error;
    }
  }
}

/** Entries whose records are held by another program's transaction. */
function heldAmong(entries: SetAside[], { ids }: RecordsHeldError): SetAside[] {
  const held = new Set(ids.map((id) => id.toHexString()));
  return entries.filter(({ _id }) => _id.what !== 'services' && held.has(_id.owner.toHexString()));
}
