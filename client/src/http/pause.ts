/** Milliseconds. Platforms take a longer timer for one of 1 ms. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** What `setTimeout` takes for a number of milliseconds, or the longest that it takes. */
export function timerMs(ms: number): number {
  return Math.min(ms, LONGEST_TIMER);
}

/** Waits, or throws the reason of the signal as soon as it is aborted. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', leave);
      resolve();
    }, timerMs(ms));
    if (signal?.aborted) leave();
    else signal?.addEventListener('abort', leave, { once: true });
  });
}
