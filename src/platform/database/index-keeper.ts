import { Injectable, Logger } from '@nestjs/common';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection } from 'mongoose';
import { FatalError } from '../common/index.js';
import { makeMissing, refusalOf } from './indexes.js';
import {
  type AnyModel,
  indexName,
  inTheWaySentence,
  type ListedIndexes,
  listedIndexes,
  listedOptionalIndexes,
  type MissingIndex,
  missingIndexesOf,
  modelsOf,
  optionalModelsOf,
} from './listed-indexes.js';
import { unfitness } from './server-check.js';

const SHORTEST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;
const LONGEST_WAIT_MS = 600_000;
/** How long a listing is reused: load balancers may ask often. */
const LOOK_MS = 1000;

/** An index that could not be created. Retries have growing pauses, up to 30 s. */
interface Failure {
  pause: number;
  /** When to try again, in milliseconds of `performance.now()`. */
  next: number;
  /** What prevents the index and what an operator has to do, or the error's own message, as sentences. */
  todo: string;
  /** When to search again for the documents that prevent the index, in milliseconds of `performance.now()`. */
  nextLook: number;
}

/** The largest share of the time that may be spent searching, because each search reads the whole collection. */
const LOOK_SHARE = 1 / 20;

/**
 * Recreates indexes that were dropped or hidden while the service runs. Feeds name their index in each query, and
 * answer 503 `preparing` while it is missing.
 */
@Injectable()
export class IndexKeeper {
  private readonly log = new Logger('Indexes');
  private readonly failures = new Map<string, Failure>();
  private readonly logged = new Set<string>();
  private listing: { at: number; found: Promise<MissingIndex[]> } | undefined;
  private work: { begun: number; done: Promise<boolean> } | undefined;

  constructor(@InjectConnection() private readonly connection: Connection) {}

  /**
   * Creates missing indexes, and returns whether it created any: no read of an earlier moment may use such an index,
   * so `since` has to move past its creation. This takes minutes for a large collection. Calls within ten minutes of
   * its beginning wait for the same work. A later call starts again, because the server's answer may be lost; a build
   * that is requested twice runs once. Throws only if the database does not answer or is unfit. A refused index is
   * logged once and retried later.
   */
  keep(): Promise<boolean> {
    const now = performance.now();
    if (this.work === undefined || now - this.work.begun > LONGEST_WAIT_MS) {
      const work = { begun: now, done: this.makeMissing().finally(() => this.leave(work)) };
      this.work = work;
    }
    return this.work.done;
  }

  /**
   * Creates the missing indexes of one optional collection, whose records are not shown yet. If {@link unfitness} finds
   * a fault, or if an index cannot be created, throws a FatalError that says what an operator has to do.
   */
  async keepOf(collectionName: string): Promise<void> {
    const model = optionalModelsOf(this.connection).find(
      (one) => one.collection.collectionName === collectionName,
    );
    if (model === undefined) return;
    const sentence = await unfitness(this.connection.db!, [model]);
    if (sentence !== undefined) throw new FatalError(`${sentence}.`);
    const missing = await missingIndexesOf(model);
    const due = missing.filter((index) => this.isDue(index));
    if (due.length > 0) await this.attempt(model, due, true);
    const [left] = await missingIndexesOf(model);
    if (left === undefined) return;
    const name = indexName(left);
    throw new FatalError(this.failures.get(name)?.todo ?? `The index ${name} is missing.`);
  }

  /**
   * Abandons the current work, so that the next call of {@link keep} starts again. Call this if the server turns out
   * not to be building any of the indexes.
   */
  leaveBehind(): void {
    this.work = undefined;
  }

  private leave(work: object): void {
    if (this.work === work) this.work = undefined;
  }

  /**
   * The missing indexes of the required collections, such as `members: organizationid, appid, id`, as of at most a
   * second ago, and what an operator has to do if another index is in the way.
   */
  async missing(): Promise<{ names: string[]; detail?: string }> {
    const now = performance.now();
    if (this.listing === undefined || now - this.listing.at > LOOK_MS) {
      const found = listedIndexes(this.connection).then((all) => all.flatMap(({ missing }) => missing));
      this.listing = { at: now, found };
    }
    const missing = await this.listing.found;
    const sentence = missing.map(inTheWaySentence).find((one) => one !== undefined);
    return {
      names: missing.map(indexName),
      ...(sentence !== undefined && { detail: `${sentence}: the service then makes its own.` }),
    };
  }

  /** Works on one collection at a time, because the service is in use. */
  private async makeMissing(): Promise<boolean> {
    const sentence = await unfitness(this.connection.db!, modelsOf(this.connection));
    if (sentence !== undefined) throw new Error(`${sentence}.`);
    const listed = [
      ...(await listedIndexes(this.connection)),
      ...(await listedOptionalIndexes(this.connection)),
    ];
    this.logOthers(listed);
    const missing = listed.flatMap((one) => one.missing);
    let hasMade = false;
    for (const model of new Set(missing.map((index) => index.model))) {
      const due = missing.filter((index) => index.model === model && this.isDue(index));
      if (due.length > 0) hasMade = (await this.attempt(model, due)) || hasMade;
    }
    return hasMade;
  }

  /** Logs each index of {@link ListedIndexes.others} once. */
  private logOthers(listed: ListedIndexes[]): void {
    for (const name of listed.flatMap(({ others }) => others)) {
      if (this.logged.has(name)) continue;
      this.logged.add(name);
      this.log.log(
        `The index ${name} of another program has the fields of one of the service's own indexes, but other ` +
          'options; it is left unchanged',
      );
    }
  }

  private isDue(index: MissingIndex): boolean {
    const failure = this.failures.get(indexName(index));
    return failure === undefined || performance.now() >= failure.next;
  }

  /** `isNew` if the collection has just been given to the service. */
  private async attempt(model: AnyModel, due: MissingIndex[], isNew = false): Promise<boolean> {
    const refusals = new Map<MissingIndex, Error>();
    await makeMissing(due, (index, error) => refusals.set(index, error as Error));
    const missing = new Map((await missingIndexesOf(model)).map((index) => [indexName(index), index]));
    let hasMade = false;
    for (const index of due) {
      const name = indexName(index);
      const still = missing.get(name);
      const error = refusals.get(index) ?? (still && new Error('MongoDB gave no reason'));
      if (error !== undefined) {
        await this.noteFailure({ ...index, ...still }, error, isNew);
        continue;
      }
      if (isNew) this.log.log(`The index ${name} is built`);
      else this.log.warn(`The index ${name} was missing and has been created again`);
      this.failures.delete(name);
      hasMade = true;
    }
    return hasMade;
  }

  /**
   * If the collection is new, operators are shown the documents that prevent the index, so these are searched for again
   * from time to time.
   */
  private async noteFailure(index: MissingIndex, error: Error, isNew: boolean): Promise<void> {
    const name = indexName(index);
    const before = this.failures.get(name);
    const pause = Math.min(LONGEST_PAUSE_MS, (before?.pause ?? SHORTEST_PAUSE_MS / 2) * 2);
    const begun = performance.now();
    let { todo, nextLook } = before ?? { todo: '', nextLook: -Infinity };
    if (before === undefined || (isNew && begun >= nextLook)) {
      todo = `${(await refusalOf(index, error).catch(() => undefined)) ?? error.message}.`;
      nextLook = begun + (performance.now() - begun) / LOOK_SHARE;
    }
    this.failures.set(name, { pause, next: performance.now() + pause, todo, nextLook });
    if (before === undefined) this.log.error(`The index ${name} is missing and cannot be created. ${todo}`);
  }
}
