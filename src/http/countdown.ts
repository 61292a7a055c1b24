/** Called whenever the time begins to run, and whenever it is paused or over. */
interface Watching {
  begun: () => void;
  ended: () => void;
}

/** A time that runs out once, and may be paused. */
export class Countdown {
  private left: number;
  private begunAt = 0;
  private timer: NodeJS.Timeout | undefined;
  private isEnded = false;

  /** Milliseconds, and what is done when they are over. */
  constructor(
    ms: number,
    private over: () => void,
    private watching: Watching | undefined,
  ) {
    this.left = ms;
  }

  go(): void {
    if (this.isEnded || this.timer !== undefined) return;
    this.begunAt = performance.now();
    this.timer = setTimeout(() => {
      this.end();
      this.over();
    }, this.left).unref();
    this.watching?.begun();
  }

  pause(): void {
    if (this.timer === undefined) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.left -= performance.now() - this.begunAt;
    this.watching?.ended();
  }

  end(): void {
    this.isEnded = true;
    this.pause();
  }

  /** Calls `over` in place of what was given, and `watching` no more: the time counts as ended now. */
  whenOver(over: () => void): void {
    this.over = over;
    if (this.timer !== undefined) this.watching?.ended();
    this.watching = undefined;
  }
}
