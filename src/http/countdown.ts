/** Told whenever the time begins to run, and whenever it stands still again. */
interface Watching {
  begun: () => void;
  ended: () => void;
}

/** A time that runs out once, and stands still in between where somebody else has to do something first. */
export class Countdown {
  private left: number;
  private begunAt = 0;
  private timer: NodeJS.Timeout | undefined;
  private isEnded = false;

  /** Milliseconds, and what is done when they are over. */
  constructor(
    ms: number,
    private over: () => void,
    private readonly watching: Watching,
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
    this.watching.begun();
  }

  pause(): void {
    if (this.timer === undefined) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.left -= performance.now() - this.begunAt;
    this.watching.ended();
  }

  end(): void {
    this.isEnded = true;
    this.pause();
  }

  /** Something else is done when it is over. */
  whenOver(over: () => void): void {
    this.over = over;
  }
}
