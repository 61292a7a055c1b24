import { setMaxListeners } from 'node:events';
import { Injectable, Logger } from '@nestjs/common';
import { pause } from '../../common/index.js';
import { FilterLooks, FilterStampings } from '../filters/index.js';
import { type Job, type TermAtWork, WorkedThrough } from '../progress/index.js';
import { ChannelReview, EmailReview, IgnoredRecords, IncompleteReview } from '../repair/index.js';
import { Aftercare, Audit, Expiry } from '../upkeep/index.js';
import { pauseBehind } from './back-off.js';

/** Edited filters of this number of applications are brought into force at a time. */
const STAMPINGS = 4;

/** What a leader does beside the stream, never during a pass. Trouble in a job makes it wait, and nothing else. */
@Injectable()
export class Jobs {
  private readonly log = new Logger('Upkeep');
  private readonly jobs: readonly Job[];

  constructor(
    expiry: Expiry,
    audit: Audit,
    aftercare: Aftercare,
    emailReview: EmailReview,
    ignored: IgnoredRecords,
    channelReview: ChannelReview,
    incompleteReview: IncompleteReview,
    looks: FilterLooks,
    stampings: FilterStampings,
    private readonly workedThrough: WorkedThrough,
  ) {
    const reviews = [emailReview, ignored, channelReview, incompleteReview];
    const atATime = Array.from({ length: STAMPINGS }, () => stampings);
    this.jobs = [expiry, audit, aftercare, ...reviews, looks, ...atATime];
  }

  /** Ends when `stop` is aborted, and never throws. */
  async run(stop: AbortSignal, term: TermAtWork): Promise<void> {
    setMaxListeners(2 * this.jobs.length, stop);
    await Promise.all(this.jobs.map((job) => this.keepDoing(job, stop, term)));
  }

  private async keepDoing(job: Job, stop: AbortSignal, term: TermAtWork): Promise<void> {
    let failures = 0;
    while (await this.workedThrough.noPass(stop)) {
      const next = await job.step(stop, term).then(
        (after) => {
          failures = 0;
          return after;
        },
        (error: unknown) => {
          if (!stop.aborted) this.log.error({ err: error }, `${job.name} failed and is tried again soon`);
          failures += 1;
          return pauseBehind(failures);
        },
      );
      await pause(next, stop);
    }
  }
}
