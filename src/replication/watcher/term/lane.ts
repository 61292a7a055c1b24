import { Logger } from '@nestjs/common';
import { pause } from '../../../platform/common/index.js';
import type { Tenant } from '../../../record/index.js';
import { HistoryLostError } from '../log/change-stream.js';
import {
  type WatchedEvent,
  type Fences,
  type AsideApplication,
  type LogPlace,
  type PassProgress,
  placeOf,
} from '../../protocol/index.js';
import { LONGEST_SILENCE_MS, TermOverError } from '../../store/index.js';
import {
  pauseBehind,
  LaneWork,
  CollectionLostError,
  furthest,
  type StreamWork,
  type Term,
} from './stream-work.js';
import type { OwnPass } from './own-pass.js';

/** How often the position of an idle lane is stored in the lease (milliseconds). */
const SAVE_MS = 2000;
/** Before a batch, a lane lets the main stream reach the end of the log, for at most this long (milliseconds). */
const LONGEST_YIELD_MS = 500;
const YIELD_MS = 20;

/** The dependencies of a lane. */
export interface LaneTools {
  work: StreamWork;
  ownPass: OwnPass;
}

/** What a lane needs from the main stream. */
export interface Beside {
  /** The place up to which the main stream works, including the batch in progress. */
  readonly reaching: LogPlace;
  /** Whether the log has further events for the main stream. */
  readonly isBehind: boolean;
  /** Stores the positions of the lanes. */
  save(): Promise<void>;
}

/**
 * The loop of one application that is aside (design §10). It reads a stream of its own from its own place, by the same
 * rules. If the application has no place in the log, a pass over it comes first. The loop ends when it has caught up with
 * the main stream, which then takes the application back.
 */
export class Lane {
  private readonly own = new AbortController();
  private readonly term: Term;
  private shownAt = performance.now();
  private loop: Promise<void> = Promise.resolve();
  private failure: Error | undefined;
  private isParked = false;
  private isStarted = false;
  /** Number of times its pass has failed, and when it may start again (of `performance.now()`). */
  private failures = 0;
  private dueAt = -Infinity;
  private readonly log = new Logger('Watcher');
  private counted: LaneWork | undefined;

  constructor(
    private readonly tools: LaneTools,
    term: Term,
    private readonly beside: Beside,
    /** Its position. */
    private at: AsideApplication,
    /** The fences of the application that the lane has passed. */
    readonly fences: Fences,
  ) {
    const stop = AbortSignal.any([term.stop, this.own.signal]);
    const showLife = () => {
      if (stop.aborted) throw new TermOverError();
      this.shownAt = performance.now();
    };
    this.term = { ...term, whole: term, stop, showLife, share: { only: this.tenant } };
    // Entries of an earlier version have no counts, so the remaining work is unknown.
    this.counted = at.counts && new LaneWork(at.counts);
  }

  get entry(): AsideApplication {
    return this.at;
  }

  get tenant(): Tenant {
    const { organizationid, appid } = this.at;
    return { organizationid, appid };
  }

  /** The place where it waits to be taken back; undefined while it works. */
  get parkedAt(): LogPlace | undefined {
    return this.isParked ? placeOf(this.at.token as { _data: string }) : undefined;
  }

  /** Whether a pass over the application is pending or in progress. */
  get isPassing(): boolean {
    return this.at.pass !== undefined;
  }

  /** Whether it has not started, or its pass has failed and has to start again. */
  get isWaiting(): boolean {
    return !this.isStarted;
  }

  /** Whether it may start. A pass that has failed pauses first. */
  get isDue(): boolean {
    return performance.now() >= this.dueAt;
  }

  /**
   * The main stream has read these events, and the lane will read them too. `areNew` is false if the log already contained
   * them.
   */
  expect(events: WatchedEvent[], areNew: boolean): void {
    this.counted?.expect(events, areNew);
    this.at = { ...this.at, ...this.counted?.progress() };
  }

  start(): void {
    this.isStarted = true;
    this.shownAt = performance.now();
    this.loop = this.live().catch((error: unknown) => {
      if (this.term.stop.aborted) return;
      if (this.isPassing && !isOfTerm(error)) this.rest(error as Error);
      else this.failure = error as Error;
    });
  }

  /** Throws the error that ended the lane, or a TermOverError if the lane shows no life. */
  assertWell(): void {
    if (this.failure !== undefined) throw this.failure;
    const silence = performance.now() - this.shownAt;
    if (this.isWaiting || this.isParked || silence <= LONGEST_SILENCE_MS) return;
    const { organizationid, appid } = this.tenant;
    throw new TermOverError(
      `The separate processing of application ${appid} of ${organizationid} has shown no sign of life for ` +
        `${Math.round(silence / 1000)} s, so the term is given up`,
    );
  }

  /** Ends its loop. */
  async end(): Promise<void> {
    this.own.abort();
    await this.loop;
  }

  private async live(): Promise<void> {
    while (!this.term.stop.aborted) {
      try {
        if (this.at.pass !== undefined) await this.passOver(this.at.pass);
        return await this.follow();
      } catch (error) {
        if (!(error instanceof HistoryLostError) || error instanceof CollectionLostError) throw error;
        const { isPassing } = this;
        await this.beginPass(error);
        if (isPassing) throw error;
      }
    }
  }

  /** A failure of the pass concerns only its application. The pass is retried later, and other passes run until then. */
  private rest(error: Error): void {
    const { organizationid, appid } = this.tenant;
    this.failures += 1;
    this.dueAt = performance.now() + pauseBehind(this.failures);
    this.isStarted = false;
    this.log.error(
      { err: error },
      `The pass over application ${appid} of ${organizationid} failed and is tried again soon`,
    );
  }

  /** Until the pass has ended, the application has no place in the log, and none of its data is shown. */
  private async passOver(stored: PassProgress): Promise<void> {
    const { term, tenant, fences } = this;
    const save = (pass: PassProgress) => {
      this.at = { ...tenant, pass };
      return this.beside.save();
    };
    const ended = await this.tools.ownPass.run({ term, tenant, stored, fences, save });
    this.at = { ...tenant, ...ended };
    await this.beside.save();
  }

  /** The log no longer contains the history of this one application. Only a pass over it can find out what changed. */
  private async beginPass({ message }: Error): Promise<void> {
    const { organizationid, appid } = this.tenant;
    this.log.error(`A pass over application ${appid} of ${organizationid} begins: ${message}`);
    const { reached: _lost, ...pass } = this.at.pass ?? {
      ...{ reason: message, isRepair: true },
      ...{ started: new Date(), done: 0, total: 0 },
    };
    // Counts from before a pass no longer apply.
    this.counted = undefined;
    this.at = { organizationid, appid, pass };
    await this.beside.save();
  }

  private async follow(): Promise<void> {
    const { work } = this.tools;
    let savedAt = performance.now();
    let isOpening = true;
    for await (const batch of work.open(this.term, this.at.token)) {
      this.term.showLife();
      if (batch.events.length > 0) {
        await this.yield();
        this.counted?.begin(batch.events);
        await work.workThrough(this.term, batch, this.fences);
      }
      const { token, until } = batch;
      this.counted?.end();
      this.at = {
        ...{ ...this.at, token, watched: furthest(this.at.watched, until) },
        ...this.counted?.progress(),
      };
      // Set before the next `await`: the main stream leaves its next batch to a lane that is not parked by then. The first
      // reply of a stream only states where it begins: nothing was read yet.
      const isShown = this.at.since === undefined || until.compare(this.at.since) >= 0;
      this.isParked = !isOpening && isShown && placeOf(token as { _data: string }) >= this.beside.reaching;
      if (batch.events.length > 0 || this.isParked || performance.now() - savedAt > SAVE_MS) {
        await this.beside.save();
        savedAt = performance.now();
      }
      if (this.isParked) break;
      isOpening = false;
    }
  }

  private async yield(): Promise<void> {
    for (let waited = 0; this.beside.isBehind && waited < LONGEST_YIELD_MS; waited += YIELD_MS) {
      await pause(YIELD_MS, this.term.stop);
      this.term.showLife();
    }
  }
}

/** Whether a failure concerns the whole term: it is over, or a collection is gone. */
function isOfTerm(error: unknown): boolean {
  return error instanceof TermOverError || error instanceof CollectionLostError;
}
