import { Injectable, Inject } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { setImmediate as soon } from 'node:timers/promises';
import { SETTINGS, type Settings } from '../../../platform/config/index.js';
import { Metrics } from '../../../platform/observability/index.js';
import type { ReadFor } from './read-slots.js';

/** Approximate size of one reply, in bytes of BSON. It bounds the memory of a page, however large its window is. */
const REPLY_BYTES = 2 * 1024 * 1024;
const UNKNOWN_BYTES = 1024;
/** Total length of the remembered feed names, in characters. */
const REMEMBERED = 1024 * 1024;

/**
 * The size of the documents of each feed, as of its last read. Each feed has a unique name. The sizes are estimates. They
 * keep pages of small documents from waiting for pages of large ones when memory is short.
 */
@Injectable()
export class ItemSizes {
  private readonly sizes = new LRUCache<string, number>({
    maxSize: REMEMBERED,
    sizeCalculation: (_bytes, feed) => feed.length,
  });

  learn(feed: string, bytes: number, count: number): void {
    if (count > 0) this.sizes.set(feed, Math.ceil(bytes / count));
  }

  /** Approximate bytes of one document. It is a whole number, so that room for n documents holds exactly n. */
  bytesOfOne(feed: string): number {
    return this.sizes.get(feed) ?? UNKNOWN_BYTES;
  }

  /** The number of documents in one reply. */
  ofOneReply(feed: string): number {
    return Math.max(1, Math.floor(REPLY_BYTES / this.bytesOfOne(feed)));
  }
}

const MEGABYTE = 1024 * 1024;

/** Bytes that each page may hold regardless of the others, so that none starves: a database reply and its text. */
export const SMALL_BYTES = MEGABYTE / 4;

/**
 * A page that has waited this long for its client releases data that it can read again, if others need the memory
 * (milliseconds).
 */
const PATIENCE_MS = 1000;

/** Estimated bytes for the next reply of a page: the preferred amount, and the minimum to proceed. */
interface Need {
  wanted: number;
  least: number;
}

interface Waiter {
  least: number;
  resolve: () => void;
}

/**
 * The memory for pages in flight: database replies, and text that no connection has taken yet. If the preferred memory of a
 * page is not available, the page proceeds in small pieces. A page whose records exceed a small piece waits for its turn,
 * first come, first served, until others are sent or release their memory.
 */
@Injectable()
export class PageBytes {
  /** The limit for all pages in flight together, in bytes. */
  most: number;
  patienceMs = PATIENCE_MS;
  private used = 0;
  private readonly budgets = new Set<PageBudget>();
  private readonly waiting = new Set<Waiter>();

  constructor(
    private readonly metrics: Metrics,
    @Inject(SETTINGS) { feedMemory }: Pick<Settings, 'feedMemory'>,
  ) {
    this.most = feedMemory;
  }

  /**
   * Opens the memory budget of a page of a credential. `gone` is aborted when the client disconnects. The caller closes
   * the budget when the page has ended, completely or not.
   */
  open(gone: AbortSignal, owner: string): PageBudget {
    const budget = new PageBudget(this, gone, owner);
    this.budgets.add(budget);
    return budget;
  }

  get inFlight(): number {
    return this.used;
  }

  add(bytes: number): void {
    this.used += bytes;
    for (const waiter of this.waiting) {
      if (!this.fits(waiter.least)) break;
      this.waiting.delete(waiter);
      this.used += waiter.least;
      waiter.resolve();
    }
    this.metrics.pageBytes.set(this.used);
  }

  /** Takes bytes if they are free or can be freed, and no other page waits for bytes. */
  async takeOrReclaim(bytes: number): Promise<boolean> {
    if (this.take(bytes)) return true;
    await this.reclaim(bytes);
    return this.take(bytes);
  }

  /** Waits for bytes, in the order of the requests. A request for more than the limit is granted when everything is free. */
  async turn(bytes: number, gone: AbortSignal): Promise<void> {
    gone.throwIfAborted();
    let leave = () => {};
    const asked = setInterval(() => void this.reclaim(bytes), Math.max(1, this.patienceMs));
    await new Promise<void>((resolve, reject) => {
      const waiter = { least: bytes, resolve };
      leave = () => {
        this.waiting.delete(waiter);
        reject(gone.reason as Error);
        this.add(0);
      };
      gone.addEventListener('abort', leave, { once: true });
      this.waiting.add(waiter);
      this.add(0);
    }).finally(() => {
      clearInterval(asked);
      gone.removeEventListener('abort', leave);
    });
  }

  forget(budget: PageBudget): void {
    this.budgets.delete(budget);
  }

  private take(bytes: number): boolean {
    if (this.waiting.size > 0 || !this.fits(bytes)) return false;
    this.add(bytes);
    return true;
  }

  /** Makes pages that have waited long for their clients release data that they can read again, until the bytes are free. */
  private async reclaim(bytes: number): Promise<void> {
    const stalled = [...this.budgets].filter((budget) => budget.isReclaimable(this.patienceMs));
    for (const budget of stalled) {
      if (this.fits(bytes)) return;
      budget.reclaim();
      await soon();
    }
  }

  private fits(bytes: number): boolean {
    return this.used === 0 || this.used + bytes <= this.most;
  }
}

/** The memory that one page holds, and its progress. */
export class PageBudget {
  /** Items of the page so far. */
  items = 0;
  /** Whether the window may hold items that were not sent. False only once its last page is sent completely. */
  goesOn = true;
  /** Whether the preferred memory was not available for the last reply, so that it is a small piece. */
  isShort = false;
  private held = 0;
  private isOpen = true;
  private waitsSince: number | undefined;
  private onReclaim: (() => void) | undefined;

  constructor(
    private readonly all: PageBytes,
    readonly gone: AbortSignal,
    private readonly owner: string,
  ) {}

  /** For whom the page is read. */
  get reader(): Pick<ReadFor, 'gone' | 'owner'> {
    return { gone: this.gone, owner: this.owner };
  }

  /**
   * Takes room for the next reply: the preferred bytes or fewer, in whole bytes, so that the balance returns to zero. The
   * room is held until it is released. A page that holds bytes already never waits for more, because two such pages could
   * wait for each other. Throws if the client disconnects while the page waits.
   */
  async room(need: Need): Promise<number> {
    const [wanted, least] = [Math.ceil(need.wanted), Math.ceil(need.least)];
    const isSmall = wanted <= SMALL_BYTES;
    this.isShort = !isSmall && !(await this.all.takeOrReclaim(wanted));
    const bytes = this.isShort ? Math.max(SMALL_BYTES, least) : wanted;
    if (isSmall || (this.isShort && (least <= SMALL_BYTES || this.held > 0))) this.all.add(bytes);
    else if (this.isShort) await this.all.turn(bytes, this.gone);
    if (this.isOpen) this.held += bytes;
    else this.all.add(-bytes);
    return bytes;
  }

  hold(bytes: number): void {
    if (!this.isOpen) return;
    this.held += bytes;
    this.all.add(bytes);
  }

  letGo(bytes: number): void {
    if (!this.isOpen) return;
    this.held -= bytes;
    this.all.add(-bytes);
  }

  /** While the client takes the sent data, the page may be asked to release data that it can read again. */
  async whileTaken<T>(taken: Promise<T>): Promise<T> {
    this.waitsSince = performance.now();
    return taken.finally(() => (this.waitsSince = undefined));
  }

  /** Sets how the page releases data that it can read again. */
  reclaimBy(letGo: () => void): void {
    this.onReclaim = letGo;
  }

  isReclaimable(patienceMs: number): boolean {
    if (this.onReclaim === undefined || this.waitsSince === undefined) return false;
    return performance.now() - this.waitsSince >= patienceMs;
  }

  reclaim(): void {
    const letGo = this.onReclaim;
    this.onReclaim = undefined;
    letGo?.();
  }

  /** Releases everything. Later changes to the budget have no effect. */
  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.all.forget(this);
    this.all.add(-this.held);
  }
}
