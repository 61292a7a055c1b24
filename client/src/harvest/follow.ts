import { ProblemError } from '../http/problem.js';
import type { HarvestOptions, Harvested, Harvester } from './harvester.js';
import { MarkSignals, pauseOf } from './mark-signals.js';
import type { HarvestSource } from './source.js';

/** Milliseconds. A `Retry-After` of hours, such as that of a maintenance page, would leave the copy out of date for as long. */
const LONGEST_WAIT_MS = 600_000;

export interface FollowOptions extends Omit<HarvestOptions, 'signal'> {
  /** Ends it. */
  signal: AbortSignal;
  /** Milliseconds: the longest time without a harvest while events are to be had. Without it 30,000. */
  quietMs?: number;
  /**
   * Milliseconds between two harvests where they are not, and after a failure that passes unless its `Retry-After` is longer;
   * of that, ten minutes at most are waited for. Without it 5,000.
   */
  pollMs?: number;
  /** Called after each harvest. */
  onHarvest?: (harvested: Harvested) => void;
  /** Called where a harvest failed and will be tried again. */
  onTrouble?: (error: unknown) => void;
}

/**
 * Harvests whenever the service says that its mark may have moved, and at times in any case. Resolves when the signal is
 * aborted, between two pages; throws what a harvest throws, unless it passes.
 */
export async function follow(
  source: HarvestSource,
  harvester: Harvester,
  { signal, quietMs = 30_000, pollMs = 5000, onHarvest, onTrouble, ...options }: FollowOptions,
): Promise<void> {
  const end = new AbortController();
  const leave = () => end.abort(signal.reason);
  signal.addEventListener('abort', leave, { once: true });
  if (signal.aborted) leave();
  const signals = new MarkSignals(source, end.signal);
  const listening = signals.listen();
  let { startsOver = false } = options;
  const onPage = (harvested: Harvested) => {
    // The new start is stored by now, and a failure does not take it back.
    startsOver = false;
    options.onPage?.(harvested);
  };
  try {
    while (!end.signal.aborted) {
      signals.begin();
      try {
        const harvested = await harvester.harvest({ startsOver, onPage, signal: end.signal });
        onHarvest?.(harvested);
      } catch (error) {
        if (end.signal.aborted) return;
        if (!source.isPassing(error)) throw error;
        onTrouble?.(error);
        await pauseOf(Math.max(pollMs, waitOf(error)), end.signal);
        continue;
      }
      await signals.moved({ quietMs, pollMs });
    }
  } finally {
    signal.removeEventListener('abort', leave);
    end.abort();
    await listening;
  }
}

/** Milliseconds that the service asks for, up to a bound. */
function waitOf(error: unknown): number {
  const { retryAfter = 0 } = error instanceof ProblemError ? error : {};
  return Math.min(retryAfter * 1000, LONGEST_WAIT_MS);
}
