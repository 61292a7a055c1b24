import { setImmediate as soon } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { SETTINGS, type Settings } from '../../../config/index.js';
import { Metrics } from '../../../observability/index.js';
import type { ReadFor } from './read-places.js';

const MEGABYTE = 1024 * 1024;

/** The bytes that every page may hold regardless of the others, so that none starves: a reply of the database and its text. */
export const SMALL_BYTES = MEGABYTE / 4;

/** A page that waits for its client for so long lets go of what it can read again, where others need it (milliseconds). */
const PATIENCE_MS = 1000;

/** Estimates: bytes that a page would like to have for its next reply, and those without which it cannot go on. */
export interface Need {
  wanted: number;
  least: number;
}

interface Waiter {
  least: number;
  resolve: () => void;
}

/**
 * The memory for pages in flight: replies of the database, and text that no connection has taken yet. Where there is no
 * room for what a page wants, it goes on in small pieces; one whose records are larger than that waits for its turn, first
 * come, first served, until others were sent or let go.
 */
@Injectable()
export class PageBytes {
  /** Bytes of all pages in flight together. */
  most: number;
  patienceMs = PATIENCE_MS;
  private used = 0;
  private readonly shares = new Set<Share>();
  private readonly waiting = new Set<Waiter>();

  constructor(
    private readonly metrics: Metrics,
    @Inject(SETTINGS) { feedMemory }: Pick<Settings, 'feedMemory'>,
  ) {
    this.most = feedMemory;
  }

  /**
   * The share of a page of a credential, whose client is there until the signal is aborted. To be closed when the page is
   * over.
   */
  open(gone: AbortSignal, owner: string): Share {
    const share = new Share(this, gone, owner);
    this.shares.add(share);
    return share;
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

  /** Takes bytes if they are free or can be freed, and no other page waits for them. */
  async takeOrReclaim(bytes: number): Promise<boolean> {
    if (this.take(bytes)) return true;
    await this.reclaim(bytes);
    return this.take(bytes);
  }

  /** Bytes in the order of asking. One that needs more than there is altogether comes when everything is free. */
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

  forget(share: Share): void {
    this.shares.delete(share);
  }

  private take(bytes: number): boolean {
    if (this.waiting.size > 0 || !this.fits(bytes)) return false;
    this.add(bytes);
    return true;
  }

  /** Lets those who have waited long for their clients let go of what they can read again, as many as are needed. */
  private async reclaim(bytes: number): Promise<void> {
    const stalled = [...this.shares].filter((share) => share.isReclaimable(this.patienceMs));
    for (const share of stalled) {
      if (this.fits(bytes)) return;
      share.reclaim();
      await soon();
    }
  }

  private fits(bytes: number): boolean {
    return this.used === 0 || this.used + bytes <= this.most;
  }
}

/** What one page holds. */
export class Share {
  /** Items of the page so far. */
  items = 0;
  /** Whether the window may hold more than was sent: as long as its last page has not been sent to its end. */
  goesOn = true;
  /** Whether the page had to go on in small pieces. */
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
   * Room for the next reply, in whole bytes, so that all of them add up to nothing in the end: what is wanted, or less.
   * It is held until it is let go. Who holds something already never
   * waits for more, since two of them could wait for one another. Throws where the client is gone.
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

  /** While the client takes what was sent, the page may be asked to let go of what it can read again. */
  async whileTaken<T>(taken: Promise<T>): Promise<T> {
    this.waitsSince = performance.now();
    return taken.finally(() => (this.waitsSince = undefined));
  }

  /** How the page lets go of what it can read again. */
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

  /** Everything is let go; what is held or let go afterwards counts no more. */
  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.all.forget(this);
    this.all.add(-this.held);
  }
}
