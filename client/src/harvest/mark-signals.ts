import { timerMs } from '../http/pause.js';
import type { HarvestSource } from './source.js';

/** Milliseconds before the events are asked for again where they were not to be had. */
const AGAIN_MS = 60_000;

/** Whether the mark may have moved, as the events of a service tell. */
export class MarkSignals {
  /** Whether somebody tells. */
  areHeard = true;
  private hasMoved = false;
  private wake: () => void = () => undefined;

  constructor(
    private readonly source: HarvestSource,
    private readonly signal: AbortSignal,
  ) {
    signal.addEventListener('abort', () => this.wake(), { once: true });
  }

  /** Listens until the signal is aborted. */
  async listen(): Promise<void> {
    while (!this.signal.aborted) {
      this.areHeard = true;
      try {
        for await (const _event of this.source.events(this.signal)) {
          this.hasMoved = true;
          this.wake();
        }
      } catch {
        // Polling goes on meanwhile; what is wrong for good, the next harvest tells.
      }
      this.areHeard = false;
      this.wake();
      await pauseOf(AGAIN_MS, this.signal);
    }
  }

  /** What moves from now on counts. */
  begin(): void {
    this.hasMoved = false;
  }

  /** Waits until something has moved since the last beginning, for a number of milliseconds at most. */
  async moved({ quietMs, pollMs }: { quietMs: number; pollMs: number }): Promise<void> {
    const begun = Date.now();
    for (;;) {
      const left = begun + (this.areHeard ? quietMs : pollMs) - Date.now();
      if (this.hasMoved || this.signal.aborted || left <= 0) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timerMs(left));
        this.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }
}

/** Resolves after a number of milliseconds, or when the signal is aborted. */
export function pauseOf(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, timerMs(ms));
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
  });
}
