import { within } from './waiting.js';

interface Waiter {
  owner: string;
  come: () => void;
}

/**
 * Limits concurrent work, in total and for each owner. A free place goes to the owner with the fewest places, and among
 * these to the one that asked first.
 */
export class Places {
  private taken = 0;
  private readonly byOwner = new Map<string, number>();
  private readonly waiting = new Set<Waiter>();

  constructor(
    private readonly most: number,
    private readonly mostOfOwner = most,
  ) {}

  /** Runs the work once it has a place. Throws the reason of `gone` if that is aborted first. */
  async during<T>(gone: AbortSignal, work: () => Promise<T>, owner = ''): Promise<T> {
    if (this.taken < this.most && this.of(owner) < this.mostOfOwner) this.take(owner);
    else await this.turn(gone, owner);
    try {
      return await work();
    } finally {
      this.giveOn(owner);
    }
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

/** No read is waited for any longer (milliseconds): less than a request may take. */
const LONGEST_MS = 8000;

/** A read in flight holds up those who come after it for so long at most (milliseconds). */
const PATIENCE_MS = 1000;

/** The read of a key that is in flight. */
interface Turn<T> {
  /** Resolves when the read is over, however it ends, or takes too long. Never rejects. */
  over: Promise<void>;
  /** The read that comes after it, shared by all who came meanwhile. */
  next?: Promise<T>;
}

/**
 * Small reads that many requests need at once. Callers with the same key share a read that has not begun yet, never one
 * that has: so what each gets is as fresh as a read of its own, and one read of a key is in flight at a time. Later
 * callers share the next one, which begins when that one is over. One that hangs, as on a lost connection,
 * makes way after a second, and is a DeadlineError after eight. Errors go to all who share a read; nothing is remembered.
 */
export class SharedReads<T> {
  private readonly turns = new Map<string, Turn<T>>();

  /** What a read that begins from now on gives. All callers of a key must mean the same. */
  share(key: string, read: () => Promise<T>): Promise<T> {
    const turn = this.turns.get(key);
    if (turn === undefined) return this.begin(key, read);
    turn.next ??= turn.over.then(() => this.begin(key, read));
    return turn.next;
  }

  /** How many keys are being read. */
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
