import { Injectable } from '@nestjs/common';
import type { Job, TermAtWork } from '../progress/index.js';
import { FilterChanges } from './filter-changes.js';

/** Brings into force, beside the stream, the services that the stream does not wait for. */
@Injectable()
export class FilterLooks implements Job {
  readonly name = 'The look at services';

  constructor(private readonly changes: FilterChanges) {}

  async step(stop: AbortSignal, term: TermAtWork): Promise<number> {
    await this.changes.lookNext(term, stop);
    return 0;
  }
}
