import { setMaxListeners } from 'node:events';
import { Injectable, Logger } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import { pause } from '../../common/index.js';
import { FilterLooks, FilterStampings } from './filters/filter-jobs.js';
import { type Job, type TermAtWork, WorkedThrough } from '../store/index.js';
import { ChannelReview, EmailReview, IncompleteReview } from './repair/reviews.js';
import { IgnoredRecords } from './repair/ignored-records.js';
import { Aftercare } from './upkeep/aftercare.js';
import { Audit } from './upkeep/audit.js';
import { Expiry } from './upkeep/expiry.js';
import { pauseBehind } from './term/stream-work.js';
import { APP_NAME } from '../../database/index.js';

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

/** A transaction without an active client. */
interface Idle {
  lsid: { id: mongo.Binary };
}

/**
 * Ends the transactions that leaders before this one have left open. One that was killed within rule 4 would hold its
 * record and its ledger entry, and the watcher with them, until MongoDB itself ends it after a minute. A leader that was
 * only overtaken begins its transaction again.
 */
@Injectable()
export class Orphans {
  private readonly log = new Logger('Watcher');

  constructor(@InjectConnection() private readonly connection: Connection) {}

  /** Never throws: where the database does not allow it, its own minute has to do. */
  async end(): Promise<void> {
    try {
      const sessions = (await this.idle()).map(({ lsid: { id } }) => ({ id }));
      if (sessions.length > 0) await this.admin.command({ killSessions: sessions });
    } catch (error) {
      this.log.debug({ err: error as Error }, 'Transactions left open cannot be looked for');
    }
  }

  private idle(): Promise<Idle[]> {
    const left = { type: 'idleSession', appName: APP_NAME, transaction: { $exists: true } };
    return this.admin
      .aggregate<Idle>([{ $currentOp: { idleSessions: true } }, { $match: left }], {
        readConcern: { level: 'local' },
      })
      .toArray();
  }

  private get admin(): mongo.Db {
    return this.connection.getClient().db('admin');
  }
}
