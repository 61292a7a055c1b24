import { Injectable } from '@nestjs/common';
import { pause } from '../../common/index.js';
import { isDatabaseAway, isRetryable } from '../../database/index.js';
import { RecordsHeldError } from '../../record/index.js';
import { type Job, type Now, type TermAtWork, TermOverError, WorkedThrough } from '../progress/index.js';
import { Quarantine, type SetAside } from '../quarantine/index.js';
import { AftercareLooks } from './aftercare-looks.js';
import { CollectionOptions } from './collection-options.js';

const BETWEEN_LOOKS_MS = 1000;
/** How many are looked after in one step. */
const AT_ONCE = 500;
/** A step that fails so often leaves the rest to the next one. */
const MOST_FAILURES = 100;

/**
 * Looks after what was set aside, as a pass would: learns what a record is, or that it is gone, repairs it and stamps it
 * anew, so that no consumer misses what the event or the refused write may have hidden.
 */
@Injectable()
export class Aftercare implements Job {
  readonly name = 'The care for what was set aside';
  private term: TermAtWork | undefined;

  constructor(
    private readonly quarantine: Quarantine,
    private readonly workedThrough: WorkedThrough,
    private readonly looks: AftercareLooks,
    private readonly options: CollectionOptions,
  ) {}

  async step(stop: AbortSignal, term: TermAtWork): Promise<number> {
    if (term !== this.term) this.quarantine.beginTerm();
    this.term = term;
    if (!this.quarantine.mayHaveEntries) return this.untilSomething(stop);
    for (const kind of await this.options.changed()) await this.quarantine.hastenRecords(kind);
    const now = await this.workedThrough.now();
    const entries = await this.quarantine.due(now.clock, AT_ONCE);
    if (entries.length === 0 || !(await this.workedThrough.upTo(now.at, stop))) return BETWEEN_LOOKS_MS;
    const areAllTried = await this.lookAfter(entries, now, term);
    return entries.length === AT_ONCE && areAllTried ? 0 : BETWEEN_LOOKS_MS;
  }

  /** Asks the database nothing meanwhile. Then the next step comes at once, if no pass is under way. */
  private async untilSomething(stop: AbortSignal): Promise<number> {
    while (!this.quarantine.mayHaveEntries && !stop.aborted) await pause(BETWEEN_LOOKS_MS, stop);
    return 0;
  }

  /**
   * So many together as succeed: half as many after a failure, down to one, which is postponed, and twice as many after a
   * success. False where there were too many failures; what is left then comes next.
   */
  private async lookAfter(all: SetAside[], now: Now, term: TermAtWork): Promise<boolean> {
    let entries = all;
    let most = entries.length;
    let failures = 0;
    for (let start = 0; start < entries.length;) {
      const some = entries.slice(start, start + most);
      const failure = await this.attempt(some, now, term);
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

  /** What there is against it; nothing where they are looked after. Throws where the database is away. */
  private async attempt(entries: SetAside[], now: Now, term: TermAtWork): Promise<Error | undefined> {
    try {
      await this.looks.lookAfter(entries, now.at, term);
      await this.quarantine.settle(entries);
      return undefined;
    } catch (error) {
      if (isDatabaseAway(error) || isRetryable(error) || error instanceof TermOverError) throw error;
      return error as Error;
    }
  }
}

/** Those whose records another program's transaction holds. */
function heldAmong(entries: SetAside[], { ids }: RecordsHeldError): SetAside[] {
  const held = new Set(ids.map((id) => id.toHexString()));
  return entries.filter(({ _id }) => _id.what !== 'services' && held.has(_id.owner.toHexString()));
}
