import { Injectable, Logger } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection } from 'mongoose';
import { makeMissing, refusalOf } from './indexes.js';
import { indexName, type MissingIndex, missingIndexes, missingIndexesOf } from './missing-indexes.js';
import type { AnyModel } from './models.js';

const SHORTEST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;
const LONGEST_WAIT_MS = 600_000;
/** How long a look counts: load balancers may ask often. */
const LOOK_MS = 1000;
const IN_THE_WAY = 'One over the same fields with other options is in the way';

/** An index that could not be made: it is tried again, each time later, up to every 30 s. */
interface Failure {
  pause: number;
  /** When to try again, in milliseconds of `performance.now()`. */
  next: number;
}

/**
 * Makes the indexes again that somebody has dropped or hidden while the service runs. Feeds state their index, and answer
 * 503 `preparing` as long as it is missing.
 */
@Injectable()
export class IndexKeeper {
  private readonly log = new Logger('Indexes');
  private readonly failures = new Map<string, Failure>();
  private look: { at: number; names: Promise<string[]> } | undefined;
  private work: { begun: number; done: Promise<boolean> } | undefined;

  constructor(@InjectConnection() private readonly connection: Connection) {}

  /**
   * Makes what is missing, and answers whether it made any: no read of an earlier moment may state such an index, so
   * `since` has to move behind it. Takes minutes where a collection is large; while it does, further calls wait for the
   * same, for ten minutes: the answer of the server may be lost, and a build that is asked for twice is one build. Throws
   * only where the database does not answer: what it refuses is logged once and tried again later.
   */
  keep(): Promise<boolean> {
    const now = performance.now();
    if (this.work === undefined || now - this.work.begun > LONGEST_WAIT_MS) {
      const work = { begun: now, done: this.makeMissing().finally(() => this.leave(work)) };
      this.work = work;
    }
    return this.work.done;
  }

  /** For whoever has found that the server works at nothing of it: the next call begins anew. */
  leaveBehind(): void {
    this.work = undefined;
  }

  private leave(work: object): void {
    if (this.work === work) this.work = undefined;
  }

  /** Which indexes are missing, such as `members: organizationid, appid, id`, as of a second ago at most. */
  missing(): Promise<string[]> {
    const now = performance.now();
    if (this.look === undefined || now - this.look.at > LOOK_MS) {
      const names = missingIndexes(this.connection).then((missing) => missing.map(indexName));
      this.look = { at: now, names };
    }
    return this.look.names;
  }

  /** One collection after the other: the service works meanwhile. */
  private async makeMissing(): Promise<boolean> {
    const missing = await missingIndexes(this.connection);
    let hasMade = false;
    for (const model of new Set(missing.map((index) => index.model))) {
      const due = missing.filter((index) => index.model === model && this.isDue(index));
      if (due.length > 0) hasMade = (await this.attempt(model, due)) || hasMade;
    }
    return hasMade;
  }

  private isDue(index: MissingIndex): boolean {
    const failure = this.failures.get(indexName(index));
    return failure === undefined || performance.now() >= failure.next;
  }

  private async attempt(model: AnyModel, due: MissingIndex[]): Promise<boolean> {
    const refusals = new Map<MissingIndex, Error>();
    await makeMissing(due, (index, error) => refusals.set(index, error as Error));
    const missing = new Set((await missingIndexesOf(model)).map(indexName));
    let hasMade = false;
    for (const index of due) {
      const name = indexName(index);
      const error = refusals.get(index) ?? (missing.has(name) ? new Error(IN_THE_WAY) : undefined);
      if (error !== undefined) {
        await this.noteFailure(index, error);
        continue;
      }
      this.log.warn(`The index ${name} was missing and stands again`);
      this.failures.delete(name);
      hasMade = true;
    }
    return hasMade;
  }

  /** The documents in the way are looked for once: that reads the whole collection. */
  private async noteFailure(index: MissingIndex, error: Error): Promise<void> {
    const name = indexName(index);
    const before = this.failures.get(name);
    const pause = Math.min(LONGEST_PAUSE_MS, (before?.pause ?? SHORTEST_PAUSE_MS / 2) * 2);
    this.failures.set(name, { pause, next: performance.now() + pause });
    if (before !== undefined) return;
    const todo = await refusalOf(index, error).catch(() => undefined);
    this.log.error(`The index ${name} is missing and cannot be made. ${todo ?? error.message}.`);
  }
}
