import { timerMs } from './pause.js';

/** Ends a request of which nothing is heard for too long, or that its caller gives up. */
export class Silence {
  private readonly controller = new AbortController();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly ms: number,
    private readonly caller: AbortSignal | undefined,
  ) {
    if (caller?.aborted) this.leave();
    else caller?.addEventListener('abort', this.leave, { once: true });
    this.heard();
  }

  /** For the request. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Something arrived: the time begins anew. */
  heard(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.controller.abort(new Error(`nothing was heard for ${this.ms} ms`));
    }, timerMs(this.ms));
  }

  /** The request is over; what may still come of it is not wanted. */
  end(): void {
    clearTimeout(this.timer);
    this.caller?.removeEventListener('abort', this.leave);
    this.controller.abort();
  }

  private readonly leave = (): void => {
    this.controller.abort(this.caller?.reason);
  };
}
