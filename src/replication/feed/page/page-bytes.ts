import { Injectable, Inject } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { InjectConnection } from '@nestjs/mongoose';
import type { Connection } from 'mongoose';
import { setImmediate as soon } from 'node:timers/promises';
import { Places } from '../../../common/index.js';
import { SETTINGS, type Settings } from '../../../config/index.js';
import { Metrics } from '../../../observability/index.js';

/** Bytes of BSON that one reply shall have, about: what a page holds in memory does not grow with its records. */
const REPLY_BYTES = 2 * 1024 * 1024;
const UNKNOWN_BYTES = 1024;
/** Characters of the names of all feeds that are remembered. */
const REMEMBERED = 1024 * 1024;

/**
 * How large the documents of a feed were when they were last read. A feed is known by any name that no other one has. An
 * estimate: where memory is short, pages of small documents do not wait behind those of large ones.
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

  /** Bytes of one document, about; whole ones, so that room for a number of documents is room for that number. */
  bytesOfOne(feed: string): number {
    return this.sizes.get(feed) ?? UNKNOWN_BYTES;
  }

  /** How many documents make one reply. */
  ofOneReply(feed: string): number {
    return Math.max(1, Math.floor(REPLY_BYTES / this.bytesOfOne(feed)));
  }
}

/** Shares of the connections to MongoDB: what is left over is for `max`, writes and everything else. */
const OF_PAGES = 3 / 4;
const OF_LARGE_PAGES = 1 / 2;

/** Large pages of one credential that are read at a time: more would not be read faster, and pages of others would wait. */
const LARGE_OF_CREDENTIAL = 4;

/** More items make a page a large one. */
const SMALL_LIMIT = 100;

/** For whom a page is read, and of how many items at most. */
export interface ReadFor {
  limit: number;
  /** The user name of the credential. */
  owner: string;
  /** Aborted when the client has gone. */
  gone: AbortSignal;
}

/**
 * Who may ask the database for a page now. A query may take as long as QUERY_MS allows, and holds a connection meanwhile:
 * however many pages are slow, some connections are left for small pages, and some for what is no page. A place that is free
 * goes to the credential that has the fewest.
 */
@Injectable()
export class ReadPlaces {
  private pages: Places | undefined;
  private large: Places | undefined;

  constructor(@InjectConnection() private readonly connection: Connection) {}

  /** Reads when it may. Throws what `gone` was aborted with. */
  read<T>({ limit, owner, gone }: ReadFor, read: () => Promise<T>): Promise<T> {
    this.pages ??= new Places(this.share(OF_PAGES));
    this.large ??= new Places(this.share(OF_LARGE_PAGES), LARGE_OF_CREDENTIAL);
    const { pages, large } = this;
    if (limit <= SMALL_LIMIT) return pages.during(gone, read, owner);
    return large.during(gone, () => pages.during(gone, read, owner), owner);
  }

  /** A pool of 0 has no end. */
  private share(part: number): number {
    const { maxPoolSize } = this.connection.getClient().options;
    return maxPoolSize === 0 ? Infinity : Math.max(1, Math.floor(maxPoolSize * part));
  }
}

const MEGABYTE = 1024 * 1024;

/** The bytes that every page may hold regardless of the others, so that none starves: a reply of the database and its text. */
export const SMALL_BYTES = MEGABYTE / 4;

/** A page that waits for its client for so long lets go of what it can read again, where others need it (milliseconds). */
const PATIENCE_MS = 1000;

/** Estimates: bytes that a page would like to have for its next reply, and those without which it cannot go on. */
interface Need {
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
