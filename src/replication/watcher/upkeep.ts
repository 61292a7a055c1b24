import { setTimeout as wait } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { Audit } from './audit.js';
import { Expiry } from './expiry.js';
import { WorkedThrough } from './worked-through.js';

const AFTER_TROUBLE_MS = 10_000;

/** Something that a leader does again and again. */
export interface Job {
  readonly name: string;
  /** Does the next piece of it, and answers how long to wait before the one after it (milliseconds). */
  step(stop: AbortSignal): Promise<number>;
}

/** What a leader does beside the stream, never during a pass. Trouble in a job makes it wait, and nothing else. */
@Injectable()
export class Upkeep {
  private readonly log = new Logger('Upkeep');
  private readonly jobs: readonly Job[];

  constructor(
    expiry: Expiry,
    audit: Audit,
    private readonly workedThrough: WorkedThrough,
  ) {
    this.jobs = [expiry, audit];
  }

  /** Ends when `stop` is aborted, and never throws. */
  async run(stop: AbortSignal): Promise<void> {
    await Promise.all(this.jobs.map((job) => this.keepDoing(job, stop)));
  }

  private async keepDoing(job: Job, stop: AbortSignal): Promise<void> {
    while (await this.workedThrough.noPass(stop)) {
      const pause = await job.step(stop).catch((error: unknown) => this.told(job, error, stop));
      await wait(pause, undefined, { signal: stop }).catch(() => undefined);
    }
  }

  private told(job: Job, error: unknown, stop: AbortSignal): number {
    if (!stop.aborted) this.log.error({ err: error }, `${job.name} failed and is tried again soon`);
    return AFTER_TROUBLE_MS;
  }
}
