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
