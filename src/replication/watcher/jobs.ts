import { Injectable, Logger } from '@nestjs/common';
import { setMaxListeners } from 'node:events';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection, mongo } from 'mongoose';
import type { AppShare } from '../protocol/index.js';
import { type Job, type TermAtWork, WorkedThrough } from '../store/index.js';
import { SchemaSampling } from '../schema/index.js';
import { FilterChanges } from './filters/filter-changes.js';
import { pause } from '../../platform/common/index.js';
import { ChannelReview, EmailReview, IncompleteReview } from './repair/reviews.js';
import { IgnoredRecords } from './repair/ignored-records.js';
import { QuarantineRetries } from './upkeep/quarantine-retries.js';
import { Audit } from './upkeep/audit.js';
import { Expiry } from './upkeep/expiry.js';
import { KindPasses } from './pass/kind-passes.js';
import { pauseBehind } from './term/stream-work.js';
import { APP_NAME } from '../../platform/database/index.js';

/** Pause after a failure, because the next service may fail for the same reason (milliseconds). */
const AFTER_FAILURE_MS = 1000;

/**
 * Re-stamps the records that an edited service judges or shows differently, in parallel to the stream. Only the
 * feeds of that service wait.
 */
@Injectable()
export class FilterStampings implements Job {
  readonly name = 'The stamping for edited filters';

  constructor(private readonly changes: FilterChanges) {}

  async step(stop: AbortSignal, term: TermAtWork, withoutPass: AppShare): Promise<number> {
    return (await this.changes.stampNext(term, stop, withoutPass)) ? 0 : AFTER_FAILURE_MS;
  }
}

/** Checks services in parallel to the stream, if the stream does not have to wait for the result. */
@Injectable()
export class ServiceChecks implements Job {
  readonly name = 'The check of services';

  constructor(private readonly changes: FilterChanges) {}

  async step(stop: AbortSignal, term: TermAtWork): Promise<number> {
    await this.changes.checkNext(term, stop);
    return 0;
  }
}

/** Number of applications whose edited filters are applied concurrently. */
const STAMPINGS = 4;

/**
 * Background jobs of the leader. They run in parallel to the stream, but not during a pass over everything. Jobs that
 * depend on the watcher's progress skip applications over which a separate pass is running. A job that fails is retried after a
 * pause; the other jobs continue.
 */
@Injectable()
export class Jobs {
  private readonly log = new Logger('Upkeep');
  private readonly jobs: readonly Job[];

  constructor(
    expiry: Expiry,
    audit: Audit,
    quarantineRetries: QuarantineRetries,
    emailReview: EmailReview,
    ignored: IgnoredRecords,
    channelReview: ChannelReview,
    incompleteReview: IncompleteReview,
    serviceChecks: ServiceChecks,
    stampings: FilterStampings,
    kindPasses: KindPasses,
    schemas: SchemaSampling,
    private readonly workedThrough: WorkedThrough,
  ) {
    const reviews = [emailReview, ignored, channelReview, incompleteReview];
    const stampingJobs = Array.from({ length: STAMPINGS }, () => stampings);
    this.jobs = [
      expiry,
      audit,
      quarantineRetries,
      ...reviews,
      serviceChecks,
      kindPasses,
      ...stampingJobs,
      schemas,
    ];
  }

  /** Ends when `stop` is aborted, and never throws. */
  async run(stop: AbortSignal, term: TermAtWork): Promise<void> {
    setMaxListeners(2 * this.jobs.length, stop);
    await Promise.all(this.jobs.map((job) => this.keepDoing(job, stop, term)));
  }

  private async keepDoing(job: Job, stop: AbortSignal, term: TermAtWork): Promise<void> {
    let failures = 0;
    for (;;) {
      const withoutPass = await this.workedThrough.noPass(stop);
      if (withoutPass === undefined) return;
      const next = await job.step(stop, term, withoutPass).then(
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

/** A session with an open transaction and no active operation. */
interface Idle {
  lsid: { id: mongo.Binary };
}

/**
 * Ends the open transactions of this service that have no operation in progress. A leader that was killed during rule 4
 * may have left one. It would hold a record and its ledger entry, and block the watcher, until MongoDB aborts it after
 * a minute. A process that still runs, such as a superseded leader or a command, repeats its transaction.
 */
@Injectable()
export class Orphans {
  private readonly log = new Logger('Watcher');

  constructor(@InjectConnection() private readonly connection: Connection) {}

  /** Never throws. If the database does not permit this, the server's own limit of one minute applies. */
  async end(): Promise<void> {
    try {
      const sessions = (await this.idle()).map(({ lsid: { id } }) => ({ id }));
      if (sessions.length > 0) await this.admin.command({ killSessions: sessions });
    } catch (error) {
      this.log.debug({ err: error as Error }, 'Cannot end open transactions of earlier leaders');
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
