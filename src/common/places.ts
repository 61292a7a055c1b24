/** So many at a time, the others in the order in which they came. */
export class Places {
  private taken = 0;
  private readonly waiting = new Set<() => void>();

  constructor(private readonly most: number) {}

  /** Does the work when there is a place for it. Throws what `gone` was aborted with, if that comes first. */
  async during<T>(gone: AbortSignal, work: () => Promise<T>): Promise<T> {
    if (this.taken < this.most) this.taken += 1;
    else await this.turn(gone);
    try {
      return await work();
    } finally {
      this.giveOn();
    }
  }

  private giveOn(): void {
    const [next] = this.waiting;
    if (next === undefined) this.taken -= 1;
    else next();
  }

  private turn(gone: AbortSignal): Promise<void> {
    gone.throwIfAborted();
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => {
        this.waiting.delete(come);
        gone.removeEventListener('abort', leave);
        settle();
      };
      const come = () => end(resolve);
      const leave = () => end(() => reject(gone.reason as Error));
      gone.addEventListener('abort', leave, { once: true });
      this.waiting.add(come);
    });
  }
}
