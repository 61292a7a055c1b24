import { Injectable } from '@nestjs/common';
import type { Job, TermAtWork } from '../../store/index.js';
import { FilterChanges } from './filter-changes.js';

/** Pause after a failure, because the next service may fail for the same reason (milliseconds). */
const AFTER_FAILURE_MS = 1000;

/**
 * Re-stamps the records that an edited filter judges differently, beside the stream. Only the feeds of that service wait.
 */
@Injectable()
export class FilterStampings implements Job {
  readonly name = 'The stamping for edited filters';

  constructor(private readonly changes: FilterChanges) {}

  async step(stop: AbortSignal, term: TermAtWork): Promise<number> {
    return (await this.changes.stampNext(term, stop)) ? 0 : AFTER_FAILURE_MS;
  }
}

/** Applies, beside the stream, the services that the stream does not wait for. */
@Injectable()
export class FilterLooks implements Job {
  readonly name = 'The look at services';

  constructor(private readonly changes: FilterChanges) {}

  async step(stop: AbortSignal, term: TermAtWork): Promise<number> {
    await this.changes.lookNext(term, stop);
    return 0;
  }
}
