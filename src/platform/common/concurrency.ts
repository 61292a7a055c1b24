import { within } from './waiting.js';

interface Waiter {
  owner: string;
  come: () => void;
}

/** Gives a slot back while something else is awaited, and takes a slot again afterwards. */
export type WithoutSlot = <T>(wait: () => Promise<T>) => Promise<T>;

/**
 * Limits concurrent work, in total and for each owner. A free slot goes to the owner with the fewest slots; of several
 * such owners, to the one that asked first.
 */
export class Semaphore {
  private taken = 0;
  private readonly byOwner = new Map<string, number>();
  private readonly waiting = new Set<Waiter>();

  constructor(
    private readonly most: number,
    private readonly mostOfOwner = most,
  ) {}

  /**
   * Runs the work once it has a slot. If `gone` is aborted while the work waits for one, throws its reason.
   */
  async during<T>(gone: AbortSignal, work: (withoutSlot: WithoutSlot) => Promise<T>, owner = ''): Promise<T> {
    if (!this.takeFree(owner)) await this.turn(gone, owner);
    let hasSlot = true;
    const withoutSlot: WithoutSlot = async (wait) => {
      hasSlot = false;
      this.giveOn(owner);
      try {
        return await wait();
      } finally {
        if (!this.takeFree(owner)) await this.turn(gone, owner);
        hasSlot = true;
      }
    };
    try {
      return await work(withoutSlot);
    } finally {
      if (hasSlot) this.giveOn(owner);
    }
  }

  private takeFree(owner: string): boolean {
    const isFree = this.taken < this.most && this.of(owner) < this.mostOfOwner;
    if (isFree) this.take(owner);
    return isFree;
  }

  private of(owner: string): number {
    return this.byOwner.get(owner) ?? 0;
  }

  private take(owner: string): void {
    this.taken += 1;
    this.byOwner.set(owner, this.of(owner) + 1);
  }

  private giveOn(owner: string): void {
    this.taken -= 1;
    const left = this.of(owner) - 1;
    if (left === 0) this.byOwner.delete(owner);
    else this.byOwner.set(owner, left);
    const next = this.next();
    if (next === undefined) return;
    this.take(next.owner);
    next.come();
  }

  private next(): Waiter | undefined {
    let best: Waiter | undefined;
    for (const one of this.waiting) {
      const places = this.of(one.owner);
      if (places < (best === undefined ? this.mostOfOwner : this.of(best.owner))) best = one;
    }
    return best;
  }

  private turn(gone: AbortSignal, owner: string): Promise<void> {
    gone.throwIfAborted();
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => {
        this.waiting.delete(waiter);
        gone.removeEventListener('abort', leave);
        settle();
      };
      const waiter = { owner, come: () => end(resolve) };
      const leave = () => end(() => reject(gone.reason as Error));
      gone.addEventListener('abort', leave, { once: true });
      this.waiting.add(waiter);
    });
  }
}

/** Longest wait for a read (milliseconds). It is shorter than the time limit of a request. */
const LONGEST_MS = 8000;

/** A read in flight delays later callers by this time at most (milliseconds). */
const PATIENCE_MS = 1000;

/** The read of a key that is in flight. */
interface Turn<T> {
  /** Resolves when the read has ended, with or without success, or takes too long. Never rejects. */
  over: Promise<void>;
  /** The next read, shared by all callers who arrived in the meantime. */
  next?: Promise<T>;
}

/**
 * Shares small reads that many requests need at the same time. Callers with the same key share a read that has not
 * started yet, never one in progress. Each result is therefore as fresh as that of a separate read.
 *
 * The next read of a key starts when the previous one has ended or has taken a second, for example because its
 * connection is lost. A read that takes eight seconds fails with a DeadlineError. All callers who share a read receive
 * its error. Results are not cached.
 */
export class SharedReads<T> {
  private readonly turns = new Map<string, Turn<T>>();

  /** The result of a read that starts after this call. All callers with the same key must pass an equivalent read. */
  share(key: string, read: () => Promise<T>): Promise<T> {
    const turn = this.turns.get(key);
    if (turn === undefined) return this.begin(key, read);
    turn.next ??= turn.over.then(() => this.begin(key, read));
    return turn.next;
  }

  /** The number of keys with a read in progress. */
  get size(): number {
    return this.turns.size;
  }

  private async begin(key: string, read: () => Promise<T>): Promise<T> {
    let end = () => {};
    const turn: Turn<T> = { over: new Promise((resolve) => (end = resolve)) };
    this.turns.set(key, turn);
    const patience = setTimeout(end, PATIENCE_MS).unref();
    try {
      return await within(LONGEST_MS, 'A read', read());
    } finally {
      clearTimeout(patience);
      if (turn.next === undefined) this.turns.delete(key);
      end();
    }
  }
}

const one = () => 1;

/**
 * The options of an LRU cache with at most this number of entries. With `max` instead, a cache would reserve its memory
 * when it is created: for the caches of a service, that takes 9 MB and 60 ms of CPU at each start.
 */
export const atMost = (entries: number) => ({ maxSize: entries, sizeCalculation: one });
