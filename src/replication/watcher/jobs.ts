import { setTimeout as wait } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { type Job, WorkedThrough } from '../progress/index.js';
import { Aftercare } from '../quarantine/index.js';
import { ChannelReview, EmailReview, IgnoredRecords } from '../repair/index.js';
import { Audit, Expiry } from '../upkeep/index.js';

/** A job that fails waits twice as long each time, up to this. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;

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
    private readonly workedThrough: WorkedThrough,
  ) {
    this.jobs = [expiry, audit, aftercare, emailReview, ignored, channelReview];
  }

  /** Ends when `stop` is aborted, and never throws. */
  async run(stop: AbortSignal): Promise<void> {
    await Promise.all(this.jobs.map((job) => this.keepDoing(job, stop)));
  }

  private async keepDoing(job: Job, stop: AbortSignal): Promise<void> {
    let failures = 0;
    while (await this.workedThrough.noPass(stop)) {
      const pause = await job.step(stop).then(
        (next) => {
          failures = 0;
          return next;
        },
        (error: unknown) => {
          if (!stop.aborted) this.log.error({ err: error }, `${job.name} failed and is tried again soon`);
          failures += 1;
          return Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS);
        },
      );
      await wait(pause, undefined, { signal: stop }).catch(() => undefined);
    }
  }
}
